# The generalized Davidson model of ties by BradleyTerry2's GenDavidson and gnm: sigma is exp(tie.scale).
# The table has columns object_i, object_j, wins_i, ties, wins_j. Usage: Rscript gen_davidson.R table.csv
suppressMessages({library(BradleyTerry2); library(gnm)})
d <- read.csv(commandArgs(trailingOnly = TRUE)[1])
objects <- sort(unique(c(d$object_i, d$object_j)))
long <- do.call(rbind, lapply(seq_len(nrow(d)), function(k) data.frame(
  match = k, one = d$object_i[k], other = d$object_j[k], result = c(1, 0, -1),
  count = c(d$wins_i[k], d$ties[k], d$wins_j[k]))))
long$match <- factor(long$match)
long$one <- factor(long$one, levels = objects)
long$other <- factor(long$other, levels = objects)
free <- gnm(count ~ GenDavidson(result == 1, result == 0, result == -1, one, other, tie.max = ~1, tie.scale = ~1) - 1,
            eliminate = match, family = poisson, data = long, verbose = FALSE)
as_fitted <- gnm(count ~ GenDavidson(result == 1, result == 0, result == -1, one, other, tie.max = ~1) - 1,
                 eliminate = match, family = poisson, data = long, verbose = FALSE)
log_sigma <- coef(free)[["tie.scale"]]
cat(sprintf("%.10g", c(sigma = exp(log_sigma), std_error = exp(log_sigma) * sqrt(vcov(free)["tie.scale", "tie.scale"]),
                       free = deviance(free), as_fitted = deviance(as_fitted))), "\n")
