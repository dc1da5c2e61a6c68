import { type Declared, declaredOption, type HelpOption } from './option-words.js';

/** Parses `  -l, --lr LR   the rate`, with further text on the lines below that are indented more. */
export function listedOptions(lines: readonly string[]): HelpOption[] {
  const options: HelpOption[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const head = /^(\s+)(-\S.*)$/.exec(lines[index]!);
    if (head === null) continue;
    const indent = head[1]!.length;
    const [names = '', ...first] = head[2]!.split(/\s{2,}/);
    const about = [...first];
    while (/^\s+[^-\s]/.test(lines[index + 1] ?? '') && indentOf(lines[index + 1]!) > indent) {
      about.push(lines[(index += 1)]!.trim());
    }
    options.push(...optionsOf({ names, takes: null, about: about.join(' ') }));
  }
  return options;
}

function optionsOf(declared: Declared): HelpOption[] {
  return [declaredOption(declared)].filter((option) => option !== null);
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/**
 * Parses the boxed tables of typer and rich-click: columns for a star, the names (perhaps several), the argument, and the
 * description. A cell may continue in the lines below.
 */
export function boxedOptions(lines: readonly string[]): HelpOption[] {
  return boxesIn(lines).flatMap((box) => {
    const columns = columnsOf(box);
    const names = columns.filter((cells) => cells.every((cell) => /^(-|$)/.test(cell)));
    if (names.length === 0) return [];
    const isMark = (cells: readonly string[]) => cells.every((cell) => cell === '*' || cell === '');
    const marks = columns.filter(isMark);
    const others = columns.filter((cells) => !names.includes(cells) && !isMark(cells));
    const heads = box.map((_, row) => row).filter((row) => names.some((cells) => cells[row] !== ''));
    return heads.flatMap((from, index) => {
      const to = heads[index + 1] ?? box.length;
      const told = toldOf(others, { from, to });
      const option = optionsOf({ names: names.map((cells) => cells[from]!.replace(/\S*…/, '')).join(' '), ...told });
      return marks.some((cells) => cells[from] === '*') ? option.map((each) => ({ ...each, required: true })) : option;
    });
  });
}

type Rows = { from: number; to: number };

/** The argument precedes the description; a table may have only one of the two. */
function toldOf(columns: readonly (readonly string[])[], rows: Rows): Pick<Declared, 'takes' | 'about'> {
  const [first = [], ...rest] = columns;
  const hasType = columns.length > 1 || columns.some((cells) => cells.every((cell) => cell === '' || isType(cell)));
  const about = (hasType ? rest : columns).map((cells) => cells.slice(rows.from, rows.to).join(' '));
  return { takes: hasType ? joined(first, rows) : '', about: about.join(' ') };
}

function isType(cell: string): boolean {
  return /^([A-Z][A-Z0-9_]*|<[^<>]+>|\[[^\]\s]*\|[^\]]*\])( RANGE)?( \[.*\])?(\.\.\.)?$/.test(cell);
}

/** Joins the lines of a cell; a word that is too long for its column is cut at the column's end. */
function joined(cells: readonly string[], { from, to }: Rows): string {
  const width = Math.max(...cells.map((cell) => cell.length));
  return cells
    .slice(from, to)
    .filter((cell) => cell !== '')
    .reduce((text, cell, row, all) => `${text}${row > 0 && all[row - 1]!.length < width ? ' ' : ''}${cell}`, '')
    .trim();
}

/** The contents of boxes, by lines. */
function boxesIn(lines: readonly string[]): string[][] {
  const boxes: string[][] = [[]];
  for (const line of lines) {
    const inside = /^\s*[│|┃](.*)[│|┃]\s*$/.exec(line)?.[1];
    if (inside !== undefined) boxes.at(-1)!.push(inside);
    else if (boxes.at(-1)!.length > 0) boxes.push([]);
  }
  return boxes.filter((box) => box.length > 0);
}

/** Trimmed cells of each column. Columns are separated by two or more blanks through all lines. */
function columnsOf(box: readonly string[]): string[][] {
  const width = Math.max(...box.map((line) => line.length));
  const isBlank = Array.from({ length: width }, (_, place) => box.every((line) => (line[place] ?? ' ') === ' '));
  const starts = isBlank.flatMap((blank, place) =>
    !blank && (place < 2 || (isBlank[place - 1]! && isBlank[place - 2]!)) ? [place] : [],
  );
  const first = isBlank.indexOf(false);
  const all = first < 0 || starts[0] === first ? starts : [first, ...starts];
  return all.map((start, index) => box.map((line) => line.slice(start, all[index + 1] ?? width).trim()));
}
