"""The benchmark of the report in a browser: what it measures is the page, only longer."""

from benchmarks.report_page import results_of, with_results
from rankadjust.page.templating import data_element


def test_a_longer_page_for_the_times_holds_the_same_results_again():
    html = f"<p>a</p>{data_element('leaderboard-data', {'open': {}, 'rows': [{'model': '</script>', 'n': 1}]})}<p>b</p>"
    longer = with_results(html, 3)
    assert (results_of(html), results_of(longer)) == (1, 3)
    assert longer.startswith("<p>a</p><script")
    assert longer.endswith("</script><p>b</p>")
    assert longer.count('"n":1') == 3
