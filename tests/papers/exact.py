"""Results of few seeds that are judged by the signs of their means, for claims that hold clearly."""

from headgate.experiment.results import ExperimentResults


def by_sign(results: ExperimentResults) -> ExperimentResults:
    """The results, with measures that count as computed: one seed decides a claim."""
    results.values = {key: quantity._replace(exact=True) for key, quantity in results.values.items()}
    return results
