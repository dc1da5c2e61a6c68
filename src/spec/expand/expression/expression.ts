import type { ASTNode, ParseResult } from '@marcbachmann/cel-js';
import { didYouMean } from '../../../text/nearest.js';
import { compiledPattern, PatternError } from '../../../text/pattern.js';
import { celEnvironment, celFunctions, matchesInstead } from './cel-environment.js';
import { binderOf, boundOf, type Limits, TooCostly } from './expression-bound.js';
import { type CelValue, isAtomic, type Size, sizeOf } from './function-bounds.js';

/** A CEL expression, checked and ready to be evaluated many times. */
export type Expression = {
  readonly source: string;
  /** Variables it reads. */
  readonly names: readonly string[];
  /** What one evaluation takes at most where all variables are numbers or short texts. */
  readonly steps: number;
  /** @throws {ExpressionError} When an evaluation with these variables would be too much work. */
  readonly refuseCostly: (variables: Readonly<Record<string, CelValue>>) => void;
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

/** Of what is evaluated once for a run: some 10 ms, and less than a program's own start takes of memory. */
export const usualLimits: Limits = { steps: 100_000, weight: 1_000_000 };
/** Of a rule that is evaluated for every row of a run's metrics. */
export const rowLimits: Limits = { steps: 5_000, weight: 100_000 };
/** Characters. */
const longest = 10_000;

/**
 * Parses and type-checks an expression, and sees to it that no evaluation can take long: neither now nor, with larger
 * variables, later.
 *
 * @throws {ExpressionError} When it is not CEL, calls an unknown function, can never have the right types, or is too much
 *   work.
 */
export function compileExpression(source: string, limits: Limits = usualLimits): Expression {
  if (source.length > longest) {
    const problem = `an expression has ${longest.toLocaleString('en-US')} characters at most`;
    throw new ExpressionError(`${problem}; this one has ${source.length.toLocaleString('en-US')}`, span(source));
  }
  const parsed = attempt(source, () => parse(source));
  const names = new Set<string>();
  attempt(source, () => visit(parsed.ast, names, []));
  // Before the types are checked, which can be as large as the values.
  const { steps } = attempt(source, () => boundOf(parsed.ast, new Map(), limits));
  const run = attempt(source, () => checked(source, parsed));
  // The library would find `constructor` in what every object inherits.
  const own = [...names].some((name) => name in Object.prototype) ? withoutPrototype : identity;
  const refuseCostly = costCheck([...names], parsed.ast, limits);
  return {
    source,
    names: [...names],
    steps,
    refuseCostly: (variables) => attempt(source, () => refuseCostly(variables)),
    // Often called: no function inside another.
    evaluate: (variables) => {
      try {
        refuseCostly(variables);
        return run(own(variables)) as CelValue;
      } catch (error) {
        throw explained(source, error);
      }
    },
  };
}

/** The library's `matches` tries one way after the other; the one that is called instead goes all at once. */
function parse(source: string): ParseResult {
  const parsed = celEnvironment.parse(source);
  const redirect = (node: ASTNode): void => {
    childrenOf(node).forEach(redirect);
    if (node.op === 'rcall' && node.args[0] === 'matches') node.args[0] = matchesInstead;
  };
  redirect(parsed.ast);
  return parsed;
}

type Variables = Readonly<Record<string, CelValue>>;

/** Throws when an evaluation with these variables could exceed the limits. Numbers cost nothing to look at. */
function costCheck(names: readonly string[], ast: ASTNode, limits: Limits): (variables: Variables) => void {
  const known = new Set<string>();
  return (variables) => {
    if (areAtomic(variables, names)) return;
    const sizes = names
      .filter((name) => Object.hasOwn(variables, name))
      .map((name): [string, Size] => [name, sizeOf(variables[name]!)]);
    const key = JSON.stringify(sizes);
    if (known.has(key)) return;
    boundOf(ast, new Map(sizes), limits);
    if (known.size < mostKnown) known.add(key);
  };
}

const mostKnown = 1000;

function identity(variables: Variables): Variables {
  return variables;
}

function withoutPrototype(variables: Variables): Variables {
  return Object.assign(Object.create(null) as Variables, variables);
}

function areAtomic(variables: Variables, names: readonly string[]): boolean {
  for (const name of names) if (!isAtomic(variables[name])) return false;
  return true;
}

/** CEL wants both sides of `a ? 1 : 0.5` to be of one type; nobody who writes a sweep does. */
function checked(source: string, parsed: ParseResult): ParseResult {
  const { error } = parsed.check();
  if (error === undefined) return parsed;
  if (error.code !== 'incompatible_ternary_branches') throw explained(source, error);
  const relaxed = parse(loosened(parsed.ast));
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

/** Collects the free variables and refuses unknown functions. `bound`: variables that a macro brought in. */
function visit(node: ASTNode, names: Set<string>, bound: readonly string[]): void {
  if (node.op === 'id' && !bound.includes(node.args) && !typeNames.has(node.args)) names.add(node.args);
  if (node.op === 'call' || node.op === 'rcall') refuseUnknownFunction(node.args[0], node);
  refuseOddPattern(node);
  const binder = binderOf(node);
  if (binder === null) return childrenOf(node).forEach((child) => visit(child, names, bound));
  visit(binder.source, names, bound);
  binder.body.forEach((part) => visit(part, names, [...bound, binder.variable]));
}

/** A pattern that is written out is looked at now; any other when it is used. */
function refuseOddPattern(node: ASTNode): void {
  if (node.op !== 'rcall' || node.args[0] !== matchesInstead) return;
  const [pattern] = node.args[2];
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') return;
  try {
    compiledPattern(pattern.args);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new ExpressionError(`the pattern cannot be used: ${error.message}`, pattern.range);
  }
}

function refuseUnknownFunction(name: string, node: ASTNode): void {
  if (celFunctions.includes(name) || name === matchesInstead) return;
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
  if (error instanceof TooCostly) {
    return new ExpressionError(
      `${error.message}: use shorter lists and texts, or fewer inside one another`,
      error.range,
    );
  }
  const { code, summary, range, message } = error as Partial<Record<string, unknown>> & {
    range?: { start: number; end: number };
  };
  const what = typeof summary === 'string' ? summary : String(message);
  const missing = code === 'unknown_variable' ? (/: (.*)$/.exec(what)?.[1] ?? null) : null;
  return new ExpressionError(inOurWords(what), range ?? span(source), missing);
}

function span(source: string): { start: number; end: number } {
  return { start: 0, end: source.length };
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
    .replaceAll(matchesInstead, 'matches')
    .replace(/\b[LR](?:PAREN|BRACKET|BRACE)\b|\bIDENTIFIER\b/g, (token) => tokens[token] ?? token)
    .replace(/^found no matching overload for '(.*)'$/, 'the arguments do not fit in $1')
    .replace(/^no such overload: /, 'these types do not match: ')
    .replace(/dyn<(\w+)>/g, '$1')
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}
