# Slopes of a length that vary between judges, and between judges and prompts, as lme4 has them: by adaptive quadrature
# with 25 points for the judges alone, by Laplace's approximation for both. Columns are doubled, so that estimates are
# log-worths (half log-odds). Usage: Rscript slopes_glmer.R slopes_glmer.csv slopes_glmer.json
library(lme4)
files <- commandArgs(trailingOnly = TRUE)
d <- read.csv(files[1])
objects <- sort(unique(c(d$object_i, d$object_j)))
d$x <- 2 * sapply(objects[-length(objects)], function(o) (d$object_i == o) - (d$object_j == o))
d$length <- 2 * (d$length_i - d$length_j)
tight <- glmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e5), tolPwrss = 1e-12)
fits <- list(
  judges = glmer(y ~ 0 + x + length + (0 + length | judge), d, binomial, nAGQ = 25, control = tight),
  crossed = glmer(y ~ 0 + x + length + (0 + length | judge) + (0 + length | prompt), d, binomial, control = tight)
)
number <- function(v) paste(sprintf("%.8f", v), collapse = ", ")
told <- sapply(names(fits), function(name) {
  fit <- fits[[name]]
  sigma <- as.data.frame(VarCorr(fit))
  sprintf(' "%s": {"coefficients": [%s], "sigma": {%s}, "logLik": %.8f}', name, number(fixef(fit)),
          paste(sprintf('"%s": %.8f', sigma$grp, sigma$sdcor), collapse = ", "), logLik(fit))
})
cat(sprintf('{\n "package": "lme4 %s, %s",\n "source": "slopes_glmer.R on slopes_glmer.csv",\n', packageVersion("lme4"),
            R.version.string),
    sprintf(' "objects": ["%s"],\n', paste(objects[-length(objects)], collapse = '", "')),
    paste(told, collapse = ",\n"), "\n}\n", file = files[2], sep = "")
