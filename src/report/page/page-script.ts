/**
 * The page's script. Pointing at a run in a figure or the table highlights it everywhere and shows a card. By keyboard: Tab or the
 * arrows move through the rows of the table; Enter pins a run, Escape releases it. Rows are sorted by column and filtered by the
 * typed text. Without the script the page is complete but for this.
 */
export const pageScript = `
(() => {
  const runs = JSON.parse(document.getElementById('runs-data').textContent);
  const card = document.getElementById('card');
  let pinned = null;
  const show = (run) => {
    for (const mark of document.querySelectorAll('.on')) mark.classList.remove('on');
    for (const figure of document.querySelectorAll('svg.pointed')) figure.classList.remove('pointed');
    card.hidden = run === null;
    if (run === null) return;
    for (const mark of document.querySelectorAll('[data-run="' + run + '"]')) {
      mark.classList.add('on');
      const figure = mark.closest('svg');
      if (figure) { figure.classList.add('pointed'); if (mark.parentNode.lastChild !== mark) mark.parentNode.append(mark); }
    }
    const { name, facts, parameters, command } = runs[run];
    card.replaceChildren();
    const add = (parent, tag, text) => { const made = document.createElement(tag); made.textContent = text; parent.append(made); return made; };
    add(card, 'h3', name);
    add(card, 'div', facts).className = 'soft';
    const list = add(card, 'dl', '');
    for (const [key, value] of parameters) { add(list, 'dt', key); add(list, 'dd', value); }
    if (command !== null) add(add(card, 'div', ''), 'code', command);
  };
  const runOf = (event) => { const mark = event.target.closest?.('[data-run]'); return mark ? mark.dataset.run : null; };
  document.addEventListener('mouseover', (event) => { if (pinned === null) show(runOf(event)); });
  document.addEventListener('focusin', (event) => { if (pinned === null && runOf(event) !== null) show(runOf(event)); });
  document.addEventListener('click', (event) => {
    const run = runOf(event);
    if (run === null && event.target.closest('#card, input, button, a')) return;
    pinned = run === pinned ? null : run;
    show(run);
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') { pinned = null; show(null); }
    const rowBeside = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key];
    if (rowBeside && event.target.matches('tr[tabindex]')) {
      let row = event.target[rowBeside];
      while (row && row.hidden) row = row[rowBeside];
      if (row) { row.focus(); event.preventDefault(); }
    }
    if (event.key === 'Enter' && runOf(event) !== null) { pinned = runOf(event); show(pinned); }
  });
  const table = document.getElementById('runs-table');
  if (!table) return;
  const body = table.tBodies[0];
  const search = document.getElementById('search');
  search.addEventListener('input', () => {
    const words = search.value.toLowerCase().split(/\\s+/).filter(Boolean);
    for (const row of body.rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
  });
  const valueOf = (row, column) => { const cell = row.cells[column]; return cell.dataset.value ?? cell.textContent; };
  table.tHead.addEventListener('click', (event) => {
    const head = event.target.closest('th');
    if (!head) return;
    const way = head.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', way === 1 ? 'ascending' : 'descending');
    const column = head.cellIndex;
    const order = (a, b) => {
      const [one, two] = [valueOf(a, column), valueOf(b, column)];
      if (one === '' || two === '') return Number(one === '') - Number(two === '');
      const difference = Number(one) - Number(two);
      return way * (Number.isNaN(difference) ? one.localeCompare(two, undefined, { numeric: true }) : difference);
    };
    body.append(...[...body.rows].sort(order));
  });
})();
`;
