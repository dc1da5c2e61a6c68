import { type CelValue, fromCel } from './expression/cel-environment.js';
import { compileExpression, type Expression, ExpressionError } from './expression/expression.js';
import { valueText } from './value-text.js';

/** A text with expressions in braces: `A_N{N}_B{reward_bins}`. A doubled brace stands for one. */
export type Template = {
  readonly source: string;
  readonly names: readonly string[];
  /** @throws {ExpressionError} With positions in the template. */
  readonly render: (variables: Readonly<Record<string, CelValue>>) => string;
};

type Part = string | { expression: Expression; start: number };

/** @throws {ExpressionError} When a brace is not closed or an expression is wrong. Positions are the template's. */
export function compileTemplate(source: string): Template {
  const parts: Part[] = [];
  for (let at = 0; at < source.length;) {
    const { part, end } = readPart(source, at);
    parts.push(part);
    at = end;
  }
  return {
    source,
    names: parts.flatMap((part) => (typeof part === 'string' ? [] : part.expression.names)),
    render: (variables) => parts.map((part) => (typeof part === 'string' ? part : textOf(part, variables))).join(''),
  };
}

function readPart(source: string, at: number): { part: Part; end: number } {
  const two = source.slice(at, at + 2);
  if (two === '{{' || two === '}}') return { part: two[0]!, end: at + 2 };
  if (source[at] === '}') throw new ExpressionError('this `}` has no `{`; write `}}` for a brace', span(at, 1));
  if (source[at] === '{') {
    const end = closingBrace(source, at);
    const start = at + 1;
    return {
      part: { expression: moved(start, () => compileExpression(source.slice(start, end))), start },
      end: end + 1,
    };
  }
  const next = source.slice(at).search(/[{}]/);
  const end = next < 0 ? source.length : at + next;
  return { part: source.slice(at, end), end };
}

/** The index of the closing brace; braces and quotes inside the expression belong to it. */
function closingBrace(source: string, open: number): number {
  let depth = 0;
  let quote: string | null = null;
  for (let at = open; at < source.length; at += 1) {
    const character = source[at]!;
    if (quote !== null) {
      if (character === '\\') at += 1;
      else if (character === quote) quote = null;
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth === 0) return at;
  }
  throw new ExpressionError('this `{` is not closed; write `{{` for a brace', span(open, 1));
}

function textOf(
  part: { expression: Expression; start: number },
  variables: Readonly<Record<string, CelValue>>,
): string {
  const result = moved(part.start, () => part.expression.evaluate(variables));
  const value = fromCel(result);
  if (value === null || Array.isArray(value.value)) {
    const inside = span(part.start, part.expression.source.length);
    throw new ExpressionError(`\`${part.expression.source}\` is not a text or an exact number`, inside);
  }
  return valueText(value.value);
}

/** Runs `work` and moves the positions of its errors from the expression to the template. */
function moved<Result>(offset: number, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new ExpressionError(error.message, { start: error.start + offset, end: error.end + offset }, error.missing);
  }
}

function span(start: number, length: number): { start: number; end: number } {
  return { start, end: start + length };
}
