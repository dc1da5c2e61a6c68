import { type Part, ScriptMistake, type Word } from './script-node.js';

/** A part with its end. */
type Read = { readonly part: Part; readonly end: number };

/**
 * Reads a word of a script from `start` up to a blank or an operator.
 *
 * @throws {ScriptMistake} If a quote or a bracket is not closed.
 */
export function readScriptWord(text: string, start: number): Word {
  const parts: Part[] = [];
  let at = start;
  while (at < text.length && !/[\s;&|()<>]/.test(text[at]!)) {
    if (text.startsWith('\\\n', at)) {
      at += 2;
      continue;
    }
    const [read, end] = piece(text, at);
    parts.push(...read);
    at = end;
  }
  return { parts: merged(parts), start, end: at };
}

/** Adjoining texts as one. */
function merged(parts: readonly Part[]): Part[] {
  const all: Part[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    const isOneText = part.kind === 'text' && last?.kind === 'text' && last.quoted === part.quoted;
    if (isOneText) all[all.length - 1] = { ...last, text: last.text + part.text };
    else all.push(part);
  }
  return all;
}

function piece(text: string, at: number): [Part[], number] {
  const character = text[at]!;
  if (character === "'") {
    const close = text.indexOf("'", at + 1);
    if (close < 0) throw unclosed('quote', at);
    return [[{ kind: 'text', text: text.slice(at + 1, close), quoted: true }], close + 1];
  }
  if (character === '"') return doubleQuoted(text, at);
  if (character === '\\' && at + 1 < text.length)
    return [[{ kind: 'text', text: text[at + 1]!, quoted: true }], at + 2];
  const expansion = expansionAt(text, at, false);
  if (expansion !== null) return [[expansion.part], expansion.end];
  const plain = /[^\s;&|()<>'"\\$`]+/y;
  plain.lastIndex = at;
  const run = plain.exec(text)?.[0] ?? character;
  return [[{ kind: 'text', text: run, quoted: false }], at + run.length];
}

function doubleQuoted(text: string, start: number): [Part[], number] {
  // An empty text makes the word exist.
  const parts: Part[] = [{ kind: 'text', text: '', quoted: true }];
  let at = start + 1;
  for (; text[at] !== '"';) {
    if (at >= text.length) throw unclosed('quote', start);
    const expansion = expansionAt(text, at, true);
    if (expansion !== null) {
      parts.push(expansion.part);
      at = expansion.end;
    } else {
      const run = plainInside(text, at);
      parts.push({ kind: 'text', text: run.text, quoted: true });
      at = run.end;
    }
  }
  return [parts, at + 1];
}

/** Characters in double quotes up to the next expansion or the end; a backslash escapes some. */
function plainInside(text: string, at: number): { text: string; end: number } {
  const escapes = text[at] === '\\' && '"\\$`\n'.includes(text[at + 1] ?? ' ');
  if (escapes) return { text: text[at + 1] === '\n' ? '' : text[at + 1]!, end: at + 2 };
  const plain = /[^"\\$`]+/y;
  plain.lastIndex = at;
  const run = plain.exec(text)?.[0] ?? text[at]!;
  return { text: run, end: at + run.length };
}

/** An expansion that begins with `$` or a backtick; null: it is a plain character. */
function expansionAt(text: string, at: number, quoted: boolean): Read | null {
  if (text[at] === '`') return backticked(text, at, quoted);
  if (text[at] !== '$') return null;
  const next = text[at + 1] ?? '';
  if (next === '(') return parenthesized(text, at, quoted);
  if (next === '{') return braced(text, at, quoted);
  const [name] = /^[A-Za-z_]\w*/.exec(text.slice(at + 1, at + 200)) ?? [];
  if (name !== undefined) return { part: { kind: 'variable', name, index: null, quoted }, end: at + 1 + name.length };
  const special = quoted ? /[\d@*#?$!-]/ : /[\d@*#?$!'"-]/;
  return special.test(next) ? { part: { kind: 'odd', source: `$${next}`, quoted }, end: at + 2 } : null;
}

function backticked(text: string, at: number, quoted: boolean): Read {
  const close = text.indexOf('`', at + 1);
  if (close < 0) throw unclosed('backtick', at);
  return { part: { kind: 'command', source: text.slice(at + 1, close), at: at + 1, quoted }, end: close + 1 };
}

function parenthesized(text: string, at: number, quoted: boolean): Read {
  const end = closing(text, at + 1);
  const inside = text.slice(at + 2, end - 1);
  if (!inside.startsWith('(') || !inside.endsWith(')')) {
    return { part: { kind: 'command', source: inside, at: at + 2, quoted }, end };
  }
  return { part: { kind: 'arithmetic', expression: inside.slice(1, -1), quoted }, end };
}

/** The end of a bracket, behind it. Quotes inside are passed over. */
function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    const character = text[at]!;
    if (character === '\\') at += 1;
    else if (character === "'" || character === '"') {
      const close = text.indexOf(character, at + 1);
      if (close < 0) break;
      at = close;
    } else if (character === '(') depth += 1;
    else if (character === ')' && (depth -= 1) === 0) return at + 1;
  }
  throw unclosed('bracket', open);
}

function braced(text: string, at: number, quoted: boolean): Read {
  const close = text.indexOf('}', at);
  if (close < 0) throw unclosed('`${`', at);
  const [, count, counted] = /^(#)([A-Za-z_]\w*)(?:\[[@*]\])?$/.exec(text.slice(at + 2, close)) ?? [];
  if (count !== undefined) return { part: { kind: 'count', name: counted!, quoted }, end: close + 1 };
  const [, listed] = /^!([A-Za-z_]\w*)\[[@*]\]$/.exec(text.slice(at + 2, close)) ?? [];
  if (listed !== undefined) return { part: { kind: 'indices', name: listed, quoted }, end: close + 1 };
  // The index may have braces of its own: ${A[${i}]}.
  const [whole, name, index] =
    /^\$\{([A-Za-z_]\w*)(?:\[((?:[^\]{}]|\{[^{}]*\})*)\])?\}/.exec(text.slice(at, at + 500)) ?? [];
  if (whole !== undefined) {
    const all = index === '*' ? '@' : (index ?? null);
    return { part: { kind: 'variable', name: name!, index: all, quoted }, end: at + whole.length };
  }
  return { part: { kind: 'odd', source: text.slice(at, close + 1), quoted }, end: close + 1 };
}

function unclosed(what: string, at: number): ScriptMistake {
  return new ScriptMistake(`this ${what} is not closed.`, 'Close it.', { start: at, end: at + 1 });
}
