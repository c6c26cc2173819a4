"""The playground's page in a real browser. Skipped where Playwright or Chromium is missing."""

import re
from pathlib import Path
from typing import Any

import pytest

from hiddenite.web import Models
from tests.page_visits import CHROMIUM, PHONE, Visit, expect_text, in_process, playwright, settle
from tests.web_models import language_model

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

MESSAGE = "the quick fox sleeps under the old tree ."


def test_correct_is_seen_first(visit: Any) -> None:
    page = visit(tab="")
    playwright.expect(page.locator("#correct")).to_be_visible()
    page.fill("#raw", "The qick fox  sleeps.\nThe fox runs!")
    expect_text(page, "#corrected", "The quick")
    assert page.locator("#corrected").evaluate("e => e.firstChild.textContent") == "The "
    change = page.locator("#corrected .change")
    assert change.count() == 1
    change.focus()
    playwright.expect(change.locator(".tip")).to_be_visible()
    expect_text(page, "#changes tbody tr", "qick.*quick")
    expect_text(page, "#correct-certificate", "proved optimal")


def test_clean_text_stays_and_slips_are_added_on_request(visit: Any) -> None:
    page = visit(tab="correct")
    page.fill("#raw", "the quick fox")
    expect_text(page, "#correct-note", "Nothing needs to change")
    expect_text(page, "#corrected", "^the quick fox$")
    playwright.expect(page.locator("#slipped-card")).to_be_hidden()
    page.locator("#correct-noise").evaluate("e => { e.value = 10; e.dispatchEvent(new Event('input')); }")
    playwright.expect(page.locator("#slipped-card")).to_be_visible()
    page.fill("#raw", "")
    playwright.expect(page.locator("#correct .card[data-state='empty']").first).to_be_visible()


def test_decode(visit: Any) -> None:
    page = visit()
    page.fill("#message", MESSAGE)
    expect_text(page, "#best", re.escape(MESSAGE))
    expect_text(page, "#certificate", "proved optimal")
    expect_text(page, "#bounds-note", "The bounds met")
    expect_text(page, "#samples-note", "^200 independent draws")
    assert page.locator("#marginals .slot").count() == len(MESSAGE.split())
    assert page.locator("#kbest tbody tr").count() == 5
    assert page.locator("#automaton .state.refined").count() > 0
    assert page.locator("#bounds polyline").count() == 2


def test_what_is_typed_before_the_page_has_started_stays(browser: Any, url: str) -> None:
    page = browser.new_context(reduced_motion="reduce").new_page()
    page.route("**/api/models", lambda route: (page.fill("#message", "843 364"), route.continue_()))
    page.goto(f"{url}#decode")
    expect_text(page, "#best", "^the dog")
    page.context.close()


def test_a_file_chosen_before_the_page_has_started_is_read(browser: Any, url: str, tmp_path: Path) -> None:
    path = tmp_path / "message.txt"
    path.write_text("843 364\n")
    page = browser.new_context(reduced_motion="reduce").new_page()
    page.route(
        "**/api/models", lambda route: (page.set_input_files("#message-file", path), route.continue_())
    )
    page.goto(f"{url}#decode")
    expect_text(page, "#best", "^the dog")
    page.context.close()


def test_a_certificate_names_its_method(visit: Any) -> None:
    page = visit()
    page.fill("#message", MESSAGE)
    expect_text(page, "#certificate", "proved optimal under this model by (dynamic programming|refinement)")


STATES = (
    "[...document.querySelectorAll('#decode .card:has(h2)')].filter(c => !c.hidden).map(c => c.dataset.state)"
)


def states(page: Any) -> set[str]:
    return set(page.evaluate(STATES))


def test_all_cards_are_out_of_date_together(visit: Any) -> None:
    page = visit()
    expect_text(page, "#samples-note", "^200 independent draws")
    assert states(page) == {""}
    typing = "document.querySelector('#message').value = 'the old tree .';"
    event = "document.querySelector('#message').dispatchEvent(new Event('input'));"
    assert set(page.evaluate(f"() => {{ {typing} {event} return {STATES}; }}")) == {"pending"}
    expect_text(page, "#best", "the old tree")
    page.fill("#message", " ")
    assert states(page) == {"empty"}
    assert not page.is_visible("#best")


def test_cards_without_an_answer_say_so(visit: Any) -> None:
    page = visit()
    page.fill("#message", " ".join([MESSAGE] * 6))
    expect_text(page, "#decode-error", "54 words")
    assert states(page) == {"failed"}
    page.fill("#message", "the dog")
    expect_text(page, "#samples-note", "^200 independent draws")
    assert states(page) == {""}


def test_slips_of_punctuation_are_counted(visit: Any) -> None:
    page = visit()
    page.fill("#noise", "10")
    page.fill("#message", ". . . . . . . . . . . . . . . . . . . . . . . .")
    expect_text(page, "#typed", r"^\s*(\d\s+){24}$")
    expect_text(page, "#typed-note", "wrong key")
    wrong = page.locator("#typed .wrong").count()
    assert wrong == sum(key != "0" for key in page.inner_text("#typed").split())


def test_unknown_words_are_marked(visit: Any) -> None:
    page = visit()
    page.select_option("#channel", "typo")
    page.fill("#noise", "0")
    page.fill("#message", "the zebra sleeps .")
    expect_text(page, "#typed-note", "the model does not know zebra")
    assert page.locator("#typed .unknown").inner_text() == "zebra"
    page.click("#tab-tag")
    page.fill("#sentence", "the xyzzy .")
    expect_text(page, "#tags .unknown", "xyzzy")
    expect_text(page, "#tag-unknown", r"does not know 1 of these 3 words; their spelling decides\.$")
    page.fill("#sentence", "xyzzy frob .")
    expect_text(page, "#tag-unknown", "does not know 2 of these 3 words.* Take such tags for guesses")


def test_key_presses(visit: Any) -> None:
    page = visit()
    page.fill("#message", "843 364")
    expect_text(page, "#best", "the dog")
    expect_text(page, "#typed-note", "read as key presses")


def test_noise_and_other_slips(visit: Any) -> None:
    page = visit()
    page.fill("#message", MESSAGE)
    page.focus("#noise")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect_text(page, "#noise-level", "10")
    expect_text(page, "#typed-note", r"\d+ wrong keys")
    typed = page.inner_text("#typed")
    page.click("#reslip")
    playwright.expect(page.locator("#typed")).not_to_have_text(typed)


def test_keyboard_typos(visit: Any) -> None:
    page = visit()
    page.select_option("#channel", "typo")
    page.fill("#noise", "0")
    page.fill("#message", "the quikc fox sleeps under the old tree .")
    expect_text(page, "#best", re.escape(MESSAGE))
    assert page.locator("#best .wrong").count() == 1


def test_beam_search_beside_it(visit: Any) -> None:
    page = visit()
    page.fill("#message", MESSAGE)
    assert page.is_checked("#beam")
    page.select_option("#width", "30")
    expect_text(page, "#beam-note", "without a proof|search error")
    assert page.is_visible("#beam-card")
    page.uncheck("#beam")
    assert not page.is_visible("#beam-card")


def test_a_long_message(visit: Any) -> None:
    page = visit(viewport=PHONE)
    page.fill("#message", " ".join([MESSAGE] * 5))
    expect_text(page, "#certificate", "proved optimal")
    expect_text(page, "#samples-note", "^200 independent draws")
    assert page.locator("#marginals .slot").count() == 45


def test_an_error_and_recovery(visit: Any) -> None:
    page = visit()
    page.fill("#message", " ".join([MESSAGE] * 6))
    expect_text(page, "#decode-error", "54 words, expected at most 48")
    page.fill("#message", "the dog")
    expect_text(page, "#best", "the dog")
    assert not page.is_visible("#decode-error")


def test_markup_stays_text(visit: Any) -> None:
    page = visit()
    page.click("#tab-tag")
    page.fill("#sentence", "<img src=x onerror=alert(1)> & <b>bold</b>")
    expect_text(page, "#tags", "<b>bold</b>")
    assert page.locator("#tags img, #tags b").count() == 0


def test_tag(visit: Any) -> None:
    page = visit()
    page.click("#tab-tag")
    page.fill("#sentence", "she can open the can .")
    expect_text(page, "#tags", "she.*PRON.*can.*AUX.*open.*VERB.*can.*NOUN")
    expect_text(page, "#tag-certificate", "proved optimal")
    second = page.locator(".token").nth(1)
    second.hover()
    assert second.locator(".tip").is_visible()
    assert second.locator(".bar").count() >= 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_align(visit: Any, scheme: str) -> None:
    page = visit(color_scheme=scheme)
    page.click("#tab-align")
    page.fill("#source", "thou hast a lamp")
    page.fill("#target", "you have a lamp")
    expect_text(page, "#searches", "exact.*viterbi.*paper")
    assert page.locator("#matrix tbody td").count() == 16
    assert page.locator("#matrix .mark.exact").count() >= 4
    page.locator("#matrix tbody td").first.hover()
    expect_text(page, "#cell", "thou – you: ")
    page.focus("#matrix td[tabindex='0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect_text(page, "#cell", "hast – a: ")


def test_align_without_sentences(visit: Any) -> None:
    page = visit()
    page.click("#tab-align")
    expect_text(page, "#align-empty", "Type two sentences")
    playwright.expect(page.locator("#align-empty")).to_be_visible()


def test_generate_without_a_model(browser: Any) -> None:
    """A server of the library's own may lack models; the page says how to get them."""
    with in_process(Models(lm=language_model())) as address:
        visit = Visit(browser, address, "test_generate_without_a_model", tab="generate")
        expect_text(visit.page, "#generate-missing", "hiddenite serve --hmm MODEL")
        playwright.expect(visit.page.locator("#keywords")).to_be_disabled()
        assert visit.page.is_disabled("#generate-go")
        visit.page.click("#tab-correct")
        expect_text(visit.page, "#correct-missing", "--corrector MODEL")
        visit.page.click("#tab-tag")
        expect_text(visit.page, "#tag-error", "--tagger MODEL")
        visit.finish()


def test_generate(visit: Any) -> None:
    page = visit(tab="generate")
    page.fill("#keywords", "dog, tree")
    settle(page, "generate")
    expect_text(
        page, "#constraint", r"a share of 0\.\d+ satisfies this .*computed exactly.*independent draws"
    )
    assert page.locator("#generated tbody tr").count() == 5
    for row in page.locator("#generated tbody tr").all_inner_texts():
        assert {"dog", "tree"} <= set(row.split())
    page.fill("#keywords", "unheard-of")
    expect_text(page, "#generate-error", "unknown word 'unheard-of'")
    assert page.locator("#generate .card:has(h2)").get_attribute("data-state") == "failed"


def test_keyboard_alone(visit: Any) -> None:
    page = visit()
    expect_text(page, "#certificate", "proved optimal")
    page.locator("#theme").focus()

    def focused() -> str:
        found: str = page.evaluate("document.activeElement.id || document.activeElement.className")
        return found

    order = [focused()]
    for _ in range(10):
        page.keyboard.press("Tab")
        order.append(focused())
    controls = ["message", "channel", "noise", "reslip", "message-file", "beam", "width"]
    assert order == [
        "theme",
        "tab-decode",
        "term",
        *controls,
        "term",
    ]  # no examples without the built-in texts
    page.focus("#tab-decode")
    page.keyboard.press("ArrowRight")
    assert focused() == "tab-tag"
    assert page.is_visible("#tag")
    playwright.expect(
        page.locator("#tag .token").first
    ).to_be_visible()  # before that there is nothing to reach
    for _ in range(4):
        page.keyboard.press("Tab")
    assert focused() == "token"
    assert page.locator(".token .tip").first.is_visible()
    page.focus("#tab-tag")
    page.keyboard.press("End")
    assert focused() == "tab-score"
    page.keyboard.press("ArrowRight")
    assert focused() == "tab-correct"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone(visit: Any, scheme: str) -> None:
    page = visit(viewport=PHONE, has_touch=True, color_scheme=scheme)
    for tab in ("tag", "align", "induce", "generate", "score", "decode"):
        page.tap(f"#tab-{tab}")
        assert page.is_visible(f"#{tab}")
        settle(page, tab)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(19, 23, 21)") == (scheme == "dark")


def test_the_theme_is_remembered(visit: Any) -> None:
    page = visit()
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 23, 21)"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
