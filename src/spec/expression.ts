import type { ASTNode, ParseResult } from '@marcbachmann/cel-js';
import { celEnvironment, celFunctions, type CelValue } from './cel-environment.js';
import { didYouMean } from '../base/nearest.js';

/** A CEL expression, checked and ready to be evaluated many times. */
export type Expression = {
  readonly source: string;
  /** Variables it reads. */
  readonly names: readonly string[];
  /** @throws {ExpressionError} When a variable is missing or a value does not fit, such as a division by zero. */
  readonly evaluate: (variables: Readonly<Record<string, CelValue>>) => CelValue;
};

/** What is wrong inside an expression. `start`, `end`: characters of the expression. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  readonly start: number;
  readonly end: number;
  /** The variable that has no value, if that is what is wrong. */
  readonly missing: string | null;

  constructor(problem: string, span: { start: number; end: number }, missing: string | null = null) {
    super(problem);
    this.start = span.start;
    this.end = span.end;
    this.missing = missing;
  }
}

/**
 * Parses and type-checks an expression.
 *
 * @throws {ExpressionError} When it is not CEL, calls an unknown function, or can never have the right types.
 */
export function compileExpression(source: string): Expression {
  const parsed = attempt(source, () => celEnvironment.parse(source));
  const names = new Set<string>();
  visit(parsed.ast, names, []);
  const run = checked(source, parsed);
  return {
    source,
    names: [...names],
    evaluate: (variables) => attempt(source, () => run(variables) as CelValue),
  };
}

/** CEL wants both sides of `a ? 1 : 0.5` to be of one type; nobody who writes a sweep does. */
function checked(source: string, parsed: ParseResult): ParseResult {
  const { error } = parsed.check();
  if (error === undefined) return parsed;
  if (error.code !== 'incompatible_ternary_branches') throw explained(source, error);
  const relaxed = celEnvironment.parse(loosened(parsed.ast));
  const { error: remaining } = relaxed.check();
  if (remaining !== undefined) throw explained(source, remaining);
  return relaxed;
}

/** The same text with both branches of every `?:` marked as being of any type. */
function loosened(node: ASTNode): string {
  const parts: { start: number; end: number }[] = [];
  const branches = (inner: ASTNode): void => {
    if (inner.op === '?:') parts.push(...inner.args.slice(1).map(({ range }) => range));
    childrenOf(inner).forEach(branches);
  };
  branches(node);
  const marks = parts.flatMap(({ start, end }) => [
    { at: start, text: 'dyn(' },
    { at: end, text: ')' },
  ]);
  // From the right, so the positions to the left stay true.
  return marks
    .sort((left, right) => right.at - left.at)
    .reduce((text, { at, text: mark }) => text.slice(0, at) + mark + text.slice(at), node.input);
}

const typeNames = new Set(celEnvironment.getDefinitions().variables.map(({ name }) => name));
/** Macros whose first argument is a variable of their own. */
const binders = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** Collects the free variables and refuses unknown functions. `bound`: variables that a macro brought in. */
function visit(node: ASTNode, names: Set<string>, bound: readonly string[]): void {
  if (node.op === 'id' && !bound.includes(node.args) && !typeNames.has(node.args)) names.add(node.args);
  if (node.op === 'call' || node.op === 'rcall') refuseUnknownFunction(node.args[0], node);
  if (node.op === 'rcall' && binders.has(node.args[0]) && node.args[2][0]?.op === 'id') {
    const inner = [...bound, node.args[2][0].args];
    visit(node.args[1], names, bound);
    node.args[2].slice(1).forEach((argument) => visit(argument, names, inner));
    return;
  }
  childrenOf(node).forEach((child) => visit(child, names, bound));
}

function refuseUnknownFunction(name: string, node: ASTNode): void {
  if (celFunctions.includes(name)) return;
  throw new ExpressionError(`there is no function \`${name}\`. ${didYouMean(name, celFunctions)}`, node.range);
}

function childrenOf(node: ASTNode): ASTNode[] {
  const children: ASTNode[] = [];
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value === 'object' && value !== null && 'op' in value) children.push(value as ASTNode);
  };
  collect(node.args);
  return children;
}

function attempt<Result>(source: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw explained(source, error);
  }
}

/** The library's errors in our words. Its own message already holds a drawing of the place; ours is drawn elsewhere. */
function explained(source: string, error: unknown): ExpressionError {
  if (error instanceof ExpressionError) return error;
  const { code, summary, range, message } = error as Partial<Record<string, unknown>> & {
    range?: { start: number; end: number };
  };
  const what = typeof summary === 'string' ? summary : String(message);
  const span = range ?? { start: 0, end: source.length };
  const missing = code === 'unknown_variable' ? (/: (.*)$/.exec(what)?.[1] ?? null) : null;
  return new ExpressionError(inOurWords(what), span, missing);
}

const tokens: Readonly<Record<string, string>> = {
  LPAREN: '`(`',
  RPAREN: '`)`',
  LBRACKET: '`[`',
  RBRACKET: '`]`',
  LBRACE: '`{`',
  RBRACE: '`}`',
  IDENTIFIER: 'a name',
};

function inOurWords(what: string): string {
  if (/token: EOF|EOF$/.test(what)) return 'the expression ends too early';
  return what
    .replace(/\b[LR](?:PAREN|BRACKET|BRACE)\b|\bIDENTIFIER\b/g, (token) => tokens[token] ?? token)
    .replace(/^found no matching overload for '(.*)'$/, 'the arguments do not fit in $1')
    .replace(/^no such overload: /, 'these types do not go together: ')
    .replace(/dyn<(\w+)>/g, '$1')
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}
