"""Ways in which people ask for the five kinds of work. Fields in braces are filled by the generator."""

from __future__ import annotations

TOTALS_CSV = (
    "Please add up {measure} per {group} in {file} and give me the result as a CSV file{named}.",
    "I need the total {measure} for each {group}. The data is in {file}. A CSV with one row per {group} is fine{named}.",
    "Sum {measure} by {group}, CSV please{named}.",
    "Attached is {file} with our {records}. Could you work out how much {measure} there is in total for every {group}, "
    "and put that in a CSV{named}? I only need those two columns.",
    "Make a CSV{named} from {file}: one line for each {group}, with the sum of {measure}.",
    "For the meeting I want to see total {measure} per {group}. Take {file}, ignore the other columns, and write a CSV{named}.",
    "What does {measure} come to for every {group}? Write the totals to a CSV file{named}, with a header line.",
    "Group the {records} in {file} by {group} and sum {measure}. Output: CSV{named}.",
)

TOTALS_XLSX = (
    "Add up {measure} per {group} in {file} and make an Excel file{named}. At the bottom put a total row that uses a formula.",
    'Excel please{named}: total {measure} for each {group} from {file}, and a last row "Total" with a SUM formula, not a typed number.',
    "I'd like a spreadsheet (xlsx){named} with one row per {group} showing the sum of {measure}, plus a total row with formulas "
    "so that it still adds up if I change something. The data is {file}.",
    "From {file}, build an .xlsx{named} of {measure} by {group}. The final row must be a total calculated by a formula.",
    "Our {records} are in {file}. Summarise them: {group} in the first column, total {measure} in the second, and below that a Total "
    "row (formula!). Save as Excel{named}.",
    "Can you turn {file} into an Excel summary{named}? Sum of {measure} for every {group}; the grand total at the end should be a live formula.",
    "Totals of {measure} per {group} as xlsx{named}, with a total row made of formulas.",
)

BRIEF = (
    "Write a one-page brief of {file} as a Word document{named}. It must state {items}.",
    "Please read {file} and make a one page summary in DOCX{named} for my manager, who wants to know {items}.",
    "I have no time to read {file}. Give me one page in Word{named}: what it is about, and {items}.",
    "Summarise the attached PDF on a single page (.docx{named}). Include {items}.",
    "One-page brief, Word format{named}, from {file}. Don't leave out {items}, and don't add figures that are not in the document.",
    "Turn {file} into a short brief for the board, at most one page, as a .docx{named}. Cover {items}.",
    "Could you prepare a brief (docx, one page){named} based on {file}? The points I need are {items}.",
)

TABLE_EDIT = (
    "In {file}, sheet {sheet}, rename the column {old1} to {new1} and {old2} to {new2}, and remove duplicate rows. Leave the other sheet as it is{named}.",
    "Please clean up {file}: {old1} should be called {new1}, {old2} should be called {new2}, and rows that appear twice must go "
    "(sheet {sheet}). Don't touch the sheet {other}{named}.",
    "Drop the duplicate rows on sheet {sheet} of {file} and rename {old1} → {new1} and {old2} → {new2}. The other sheet must stay exactly the same{named}.",
    "The sheet {sheet} in {file} has repeated rows. Keep each one only once. Also change the headers {old1} and {old2} to {new1} and "
    "{new2}. Sheet {other} stays untouched{named}.",
    "Two header changes in {file} ({sheet}): {old1} becomes {new1}, {old2} becomes {new2}. Then delete exact duplicate rows. Keep {other} unchanged{named}.",
    "I need {file} without duplicates in {sheet}, with {old1} renamed to {new1} and {old2} renamed to {new2}; everything in {other} should be left alone{named}.",
)

CHART = (
    "Draw a bar chart of {measure} per {group} from {file} as a PNG{chart}, and write a short Markdown note{note} that says which {group} has the largest value and what it is.",
    "Bar chart please (PNG{chart}): {group} on one axis, {measure} on the other, data in {file}. Also a Markdown note{note} naming the highest {measure}.",
    "From {file} I'd like two files: a PNG bar chart{chart} showing {measure} for each {group}, and a .md note{note} with the largest {measure} and the {group} it belongs to.",
    "Which {group} has the most {measure}? Put the answer in a Markdown file{note} and show all of them in a bar chart saved as PNG{chart}. Source: {file}.",
    "Please visualise {file}: bars for {measure} by {group}, saved as a PNG image{chart}. Add a one-line note in Markdown{note} about the biggest one, with its figure.",
    "Make a PNG bar chart{chart} with one bar per {group} for {measure} ({file}). In a Markdown note{note} tell me the top {group} and its value.",
)
CHART_TOTALS = (
    "Add up {measure} for each {group} in {file}, draw the totals as a bar chart (PNG{chart}) and write a Markdown note{note} naming the {group} with the largest total and that total.",
    "{file} lists our {records}. I want a bar chart as PNG{chart} of total {measure} per {group}, and a Markdown note{note} that names the largest total.",
    "Bar chart (PNG{chart}) of the sum of {measure} by {group} from {file}, plus a short .md note{note}: which {group} is on top, and with what total?",
)
