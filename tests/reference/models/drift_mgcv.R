# Random walks of log-worths, as mgcv's restricted maximum likelihood (Laplace) has them: worths of three objects less
# the fourth's in six periods, penalized by their differences from period to period. All columns are doubled, so that
# coefficients are log-worths; sp is 1/sigma^2. Usage: Rscript drift_mgcv.R drift_mgcv.csv drift_mgcv.json
library(mgcv)
files <- commandArgs(trailingOnly = TRUE)
d <- read.csv(files[1])
objects <- sort(unique(c(d$object_i, d$object_j)))
free <- objects[-length(objects)]
days <- sort(unique(d$day))
x <- do.call(cbind, lapply(days, function(t) sapply(free, function(o) {
  2 * (d$day == t) * ((d$object_i == o) - (d$object_j == o))
})))
steps <- diff(diag(length(days))) / sqrt(diff(days))
s <- kronecker(crossprod(steps), solve(diag(length(free)) + 1))
fit <- gam(cbind(wins_i, wins_j) ~ x - 1, family = binomial, data = d, paraPen = list(x = list(s)), method = "REML",
           control = gam.control(epsilon = 1e-12, newton = list(conv.tol = 1e-10)))
num <- function(v) paste0("[", paste(sprintf("%.10f", v), collapse = ", "), "]")
json <- c("{",
  sprintf(' "package": "mgcv %s, %s",', packageVersion("mgcv"), R.version.string),
  ' "source": "drift_mgcv.R on drift_mgcv.csv",',
  sprintf(' "sigma": %.10f,', 1 / sqrt(fit$sp)),
  sprintf(' "coefficients": %s,', num(coef(fit))),
  sprintf(' "std_errors": %s,', num(sqrt(diag(vcov(fit))))),
  sprintf(' "reml": %.10f', -fit$gcv.ubre),
  "}")
writeLines(json, files[2])
