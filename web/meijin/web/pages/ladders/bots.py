"""The bots that an address names: ``bots=ada,bob``, or ``bots=ada&bots=bob`` as forms write it."""

from meijin.web.refusals import bad_request
from meijin.web.visit import Visit


def chosen_bots(visit: Visit, most: int) -> list[str]:
    """The bots that were chosen, each once; none where nobody has.

    Raises:
        Refusal: they are more than `most`.
    """
    given = visit.request.query_params.getlist("bots")
    names = [name.strip() for part in given for name in part.replace(",", " ").split()]
    chosen = list(dict.fromkeys(filter(None, names)))
    if len(chosen) > most:
        raise bad_request(f"bots: {len(chosen)} names; choose at most {most}")
    return chosen
