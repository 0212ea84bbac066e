"""Words that ask for nothing by themselves."""

from __future__ import annotations

PLAIN = frozenset(
    """
    a short simple quick able also enough okay perfect good source
    stored summary store saved turn single header line headers headings row
    afterward afterwards als also am an and answer are as at attach attached attachment back be been below
    bitte boss both but by call called can chart colleague come copy could create csv danke das data datei dear
    deliver der die do document docx done each ein eine everything excel export file final finally finish
    finished first folder for format from get give got hand have he hello help her here hi his html i image in
    into is it its json just keep kindly leave let like load look make markdown may md me might must my name
    named need new next nice note now of ok on one open other our out output pdf picture please png produce
    provide put read ready result return save see send shall she sheet should so speichere speichern spreadsheet
    sure tabelle table take task text thank thanks that the their them then there these they this titled to
    today two txt und under us use using version want was we were when will with word work workbook would write
    written xlsx you your
    """.split()
)
"""Words of clauses that only speak about files, or are polite."""

UNTELLING = frozenset(
    """
    a about all also an and any are as at be been both brief briefly but by can clear clearly could cover detail
    did do document docx does each every exact figure figures file for from give given has have he her him his
    how i if important in include including information into is it it's its just key least main make me mention
    more most must my name names number of on one or our out over overall page paragraph pdf please point reader
    relevant report say saying says section sentence she short should so state summary sure tell tells than that
    the their them there these they thing this those to two up us was we well were what when where which who
    will with word would you your
    """.split()
)
"""Words that do not tell what an item of a list is about."""

IDLE = frozenset(
    """
    about add again all alone anything axi bar belong belongs board both bottom build built calculat calculate
    calculated change chang clean column columns compute computed delet delete do doe does done draw drawn drop
    across end entri entry every everyone exact exactly figure figur fine go goes group grouped has have how instead item keep
    kept last line list made manager me meeting monday month need number numbers per plu plus record remove
    remov result second show shown some something still summaris summarise summariz summarize team tell third
    grand gesamt je pro respectively rid von tomorrow twice up value values week what which who whole whose
    """.split()
)
"""Words of clauses about tables that ask for nothing beyond the wishes that are tested."""

IDLE_PHRASES = (
    r"\bif (?:i|we|you|someone|something|anything|the (?:data|figures|numbers|values))\b[^.;,]*\bchang\w*[^.;,]*",
    r"\bnot (?:an? |as )?(?:typed|fixed|hard[- ]?coded|plain|static)(?:[- ]in)?\b(?: (?:numbers?|values?|figures?|totals?))?",
)
"""Phrases that explain a wish and add none."""
