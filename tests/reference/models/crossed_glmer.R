# Crossed effects of judges and of prompts on log-worths, as lme4's Laplace approximation has them: a multi-membership
# design, in which a judgment of i against j loads 1 on the effect of i and -1 on that of j. All columns are doubled, so
# that estimates are log-worths (half log-odds). Usage: Rscript crossed_glmer.R crossed_glmer.csv crossed_glmer.json
library(lme4)
files <- commandArgs(trailingOnly = TRUE)
d <- read.csv(files[1])
objects <- sort(unique(c(d$object_i, d$object_j)))
side <- function(objects_of, levels, groups) {
  t(fac2sparse(factor(paste(groups, objects_of), levels = levels), drop.unused.levels = FALSE))
}
loaded <- function(groups) {
  levels <- as.vector(outer(sort(unique(groups)), objects, paste))
  z <- 2 * (side(d$object_i, levels, groups) - side(d$object_j, levels, groups))
  z[, colSums(abs(z)) > 0]
}
z <- list(judge = loaded(d$judge), prompt = loaded(d$prompt))
x <- 2 * sapply(objects[-length(objects)], function(o) (d$object_i == o) - (d$object_j == o))
d$judge_object <- factor(rep_len(colnames(z$judge), nrow(d)), levels = colnames(z$judge))
d$prompt_object <- factor(rep_len(colnames(z$prompt), nrow(d)), levels = colnames(z$prompt))
f <- glFormula(y ~ 0 + x + (1 | judge_object) + (1 | prompt_object), data = d, family = binomial,
               control = glmerControl(check.nobs.vs.nlev = "ignore", check.nobs.vs.nRE = "ignore"))
order <- sub("_object", "", names(f$reTrms$flist))
stopifnot(identical(order, sub("_object", "", names(f$reTrms$cnms))))
f$reTrms$Ztlist <- lapply(order, function(k) as(t(z[[k]]), "dgCMatrix"))
f$reTrms$Zt <- do.call(rbind, f$reTrms$Ztlist)
fun <- do.call(mkGlmerDevfun, c(f, list(control = glmerControl(tolPwrss = 1e-13))))
best <- optimizeGlmer(fun)
fun <- updateGlmerDevfun(fun, f$reTrms)
control <- list(xtol_abs = 1e-10, ftol_abs = 1e-12)
best <- nloptwrap(fun, par = c(best$par, rep(0, ncol(x))), lower = c(0, 0, rep(-Inf, ncol(x))), upper = rep(Inf, 2 + ncol(x)),
                  control = c(control, list(maxeval = 20000)))
number <- function(v) paste0("[", paste(sprintf("%.10f", v), collapse = ", "), "]")
cat(sprintf('{\n "package": "lme4 %s, %s",\n "source": "crossed_glmer.R on crossed_glmer.csv",\n', packageVersion("lme4"),
            R.version.string),
    sprintf(' "objects": ["%s"],\n', paste(objects[-length(objects)], collapse = '", "')),
    sprintf(' "sigma": {"%s": %.10f, "%s": %.10f},\n', order[1], best$par[1], order[2], best$par[2]),
    sprintf(' "coefficients": %s,\n "logLik": %.10f\n}\n', number(best$par[-(1:2)]), -best$fval / 2), file = files[2], sep = "")
