import { numberText, toNumber, unitText } from './printed-tokens.js';

/** Limit on the number of rows in a table. */
const MOST = 500;
type Row = Record<string, number>;

/** What a line is to a table: `row`: it ends or is a row; `part`: it belongs to one; `none`: it is outside. */
type TableLine = { is: 'row'; row: Row } | { is: 'part' } | { is: 'none' };
const part: TableLine = { is: 'part' };
const none: TableLine = { is: 'none' };

const numeric = new RegExp(`^(${numberText})(${unitText})?$`);

/** The number in a cell, NaN included; undefined: it is none. */
function numberIn(text: string): number | undefined {
  const [, number, unit = ''] = numeric.exec(text) ?? [];
  return number === undefined ? undefined : toNumber(number, unit.trim());
}

/**
 * Parses the tables of stable-baselines3, Baselines and Spinning Up: `| rollout/ | |` begins a section, `|    ep_rew_mean | 123 |`
 * is a value in it, a line of dashes ends the table. Also of tables that are drawn with lines,
 * with one pair of name and value in a row or several: rich, tabulate. Names that are cut to 36 characters stay cut.
 */
export class BoxTable {
  #section = '';
  #row: Row | null = null;

  take(line: string): TableLine {
    if (line.startsWith('-')) return /^-{10,}$/.test(line) ? this.#end() : none;
    if (drawnRule.test(line)) return /^[└┗╘╰╚]/.test(line) ? this.#end() : part;
    const cells = cellsBetween(line);
    if (cells.length < 2 || cells.length % 2 > 0 || cells[0]!.trim() === '') {
      this.#end();
      return none;
    }
    for (let at = 0; at < cells.length; at += 2) {
      const key = cells[at]!;
      if (key.trim() !== '') this.#take(key.trim(), cells[at + 1]!.trim(), key.startsWith('  '));
    }
    return part;
  }

  #take(key: string, value: string, isInside: boolean): void {
    this.#row ??= {};
    const number = numberIn(value);
    if (value === '' && key.endsWith('/')) this.#section = key;
    else if (number !== undefined && Object.keys(this.#row).length < MOST) {
      this.#row[isInside ? this.#section + key : key] = number;
    }
  }

  #end(): TableLine {
    const row = this.#row;
    if (row === null && this.#section === '') return none;
    this.#section = '';
    this.#row = null;
    return row !== null && Object.keys(row).length > 0 ? { is: 'row', row } : none;
  }
}

const drawnRule = /^[┌┏╒╭╔├┡╞╟╠└┗╘╰╚][─━═┬┳╤┼╇╪╬┴┻╧╩ ]{4,}[┐┓╕╮╗┤┩╡╢╣┘┛╛╯╝]$/;

/** The cells of a line that begins and ends with a bar; of two cells a bar of ASCII, of any even number a drawn one. */
function cellsBetween(line: string): string[] {
  if (line.startsWith('|') && line.endsWith('|')) {
    const cells = line.slice(1, -1).split('|');
    return cells.length === 2 ? cells : [];
  }
  return /^[│┃║]/.test(line) && /[│┃║]$/.test(line) ? line.slice(1, -1).split(/[│┃║]/) : [];
}

/** First columns of tables of metrics, and the key of their numbers. YOLO's evaluations begin with a class. */
const counters: Readonly<Record<string, string>> = {
  ...{ epoch: 'epoch', e: 'epoch', iter: 'step', iteration: 'step', step: 'step', '#': 'step', class: '' },
};
const rule = /^[-=─━+|\s]+$/;

/**
 * Parses tables with a line of names and then lines of numbers: fastai, spaCy, skorch, YOLO, `verbose` of scikit-learn. Columns are
 * separated by bars or by two spaces.
 */
export class ColumnTable {
  #names: readonly string[] = [];

  take(line: string): TableLine {
    const isOpen = this.#names.length > 0;
    const mayBegin = /^[|\s]*(?:e|epoch|iter|iteration|step|class)\b/i.test(line);
    if (!isOpen && !mayBegin) return none;
    if (isOpen && rule.test(line)) return part;
    const cells = cellsOf(line);
    if (mayBegin && isHeading(cells)) {
      this.#names = ungrouped(cells);
      return part;
    }
    if (isOpen && cells.length === this.#names.length) return this.#rowOf(cells);
    // A bar may be drawn between the rows.
    if (!/^(?:Epoch \d|.*%)/.test(line)) this.#names = [];
    return none;
  }

  #rowOf(cells: readonly string[]): TableLine {
    const names = this.#names;
    const isClass = names[0]!.toLowerCase() === 'class';
    if (isClass ? cells[0] !== 'all' : !/^\d+(?:\/\d+)?$/.test(cells[0]!)) return part;
    const row: Row = {};
    cells.forEach((cell, index) => {
      const name = names[index]!;
      const key = index < 2 ? (counters[name.toLowerCase()] ?? name) : name;
      const number = numberIn(index === 0 ? cell.split('/', 1)[0]! : cell);
      if (number !== undefined && key !== '') row[key] = number;
    });
    return { is: 'row', row };
  }
}

/** Names in groups, `Box(P  R  mAP50-95)  Mask(P  R  mAP50-95)`, of which the group is a part where there are several. */
function ungrouped(cells: readonly string[]): string[] {
  const hasSeveral = cells.filter((cell) => /^\w+\(\w/.test(cell)).length > 1;
  let group = '';
  return cells.map((cell) => {
    const [, opened, first] = /^(\w+)\((\w.*)$/.exec(cell) ?? [];
    group = opened ?? group;
    const own = group;
    if (cell.endsWith(')')) group = '';
    const name = own === '' ? cell : (first ?? cell).replace(/\)$/, '');
    return own !== '' && hasSeveral ? `${own}/${name}` : name;
  });
}

function cellsOf(line: string): string[] {
  if (!line.includes('|')) return line.split(/\s{2,}|\t/);
  return line.split('|').map((cell) => cell.trim()).filter((cell, index, all) => cell !== '' || (index > 0 && index < all.length - 1)); // prettier-ignore
}

function isHeading(cells: readonly string[]): boolean {
  const isName = (cell: string): boolean => /^[A-Za-z#][\w#@%/(). -]{0,40}$/.test(cell);
  return cells.length > 2 && cells[0]!.toLowerCase() in counters && cells.every(isName) && cells.every((cell) => !/ \d/.test(cell)); // prettier-ignore
}
