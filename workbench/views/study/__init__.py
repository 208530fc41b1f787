"""Study view: the candidates of a tuning study, their scores, choices and ancestry."""
