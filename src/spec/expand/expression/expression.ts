import type { ASTNode, ParseResult } from '@marcbachmann/cel-js';
import { lazy } from '../../../base/lazy.js';
import { didYouMean } from '../../../text/nearest.js';
import { compiledPattern, PatternError } from '../../../text/pattern.js';
import { valueText } from '../value-text.js';
import { celEnvironment, celFunctions, type CelValue, fromCel, instead, ownNames } from './cel-environment.js';
import { workOn } from './time-limit.js';

/** A CEL expression, checked and ready to be evaluated many times. */
export type Expression = {
  readonly source: string;
  /** Variables it reads. */
  readonly names: readonly string[];
  /** Whether an evaluation is always fast, whatever the variables are. */
  readonly isShort: boolean;
  /** @throws {ExpressionError} When a variable is missing or an operation fails, such as a division by zero. */
  readonly evaluate: (variables: Readonly<Record<string, CelValue>>) => CelValue;
};

/** A mistake inside an expression. `start`, `end`: its range of characters. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  readonly start: number;
  readonly end: number;
  /** The variable without a value, if that is the mistake. */
  readonly missing: string | null;

  constructor(problem: string, span: { start: number; end: number }, missing: string | null = null) {
    super(problem);
    this.start = span.start;
    this.end = span.end;
    this.missing = missing;
  }
}

/** An evaluation exceeded its memory limit. */
export class TooLarge extends ExpressionError {}

/** Length limit of an expression in characters. */
const longest = 10_000;
/**
 * Limit on the characters and elements of all texts and lists that one evaluation creates. The caller limits the time; memory must
 * be limited here, because one list that does not fit ends the whole process, even if it is created in a worker thread with a limit
 * of its own.
 */
const mostMade = 1_000_000;

/**
 * Parses and type-checks an expression. Only `withinTime` limits the time of the check and of evaluations.
 *
 * @throws {ExpressionError} When it is not CEL, calls an unknown function, or has contradictory types.
 */
export function compileExpression(source: string): Expression {
  if (source.length > longest) {
    const problem = `an expression has ${longest.toLocaleString('en-US')} characters at most`;
    throw new ExpressionError(`${problem}; this one has ${source.length.toLocaleString('en-US')}`, span(source));
  }
  return workOn(source, () => attempt(source, () => compiled(source)));
}

function compiled(source: string): Expression {
  const parsed = parse(source);
  const names = new Set<string>();
  visit(parsed.ast, names, []);
  const run = checked(source, parsed);
  const isShort = !measure(run.ast);
  // The library would find `constructor` in the prototype of every object.
  const own = [...names].some((name) => name in Object.prototype) ? withoutPrototype : identity;
  // Called often, so it creates no closures.
  const evaluate = (variables: Variables): CelValue => {
    made = 0;
    try {
      return run(own(variables)) as CelValue;
    } catch (error) {
      throw explained(source, error);
    }
  };
  const evaluateLong = (variables: Variables) => workOn(source, () => evaluate(variables));
  return { source, names: [...names], isShort, evaluate: isShort ? evaluate : evaluateLong };
}

/** Parses an expression and replaces some functions of the library by our own. */
function parse(source: string): ParseResult {
  const parsed = celEnvironment().parse(source);
  const redirect = (node: ASTNode): void => {
    childrenOf(node).forEach(redirect);
    if (node.op === 'rcall') node.args[0] = instead.get(node.args[0]) ?? node.args[0];
  };
  redirect(parsed.ast);
  return parsed;
}

/** Total size of what the present evaluation has created. */
let made = 0;

const makers: ReadonlySet<ASTNode['op']> = new Set(['+', 'list', 'map', 'call', 'rcall']);

/** Makes all operations that create texts and lists count their sizes. Returns false where there are none. */
function measure(node: ASTNode): boolean {
  const below = childrenOf(node).map(measure);
  if (!makers.has(node.op)) return below.includes(true);
  const evaluated = node as unknown as { evaluate: (...args: unknown[]) => unknown };
  // The library's evaluators replace themselves on their first call.
  let inner = evaluated.evaluate;
  const outer = (...args: unknown[]): unknown => {
    const value = inner.apply(node, args);
    made += sizeOf(value);
    if (made <= mostMade) return value;
    const problem = `this makes more than ${mostMade.toLocaleString('en-US')} characters and elements`;
    throw new TooLarge(`${problem}: use shorter lists and texts, or fewer inside one another`, node.range);
  };
  Object.defineProperty(node, 'evaluate', { get: () => outer, set: (next: typeof inner) => void (inner = next) });
  return true;
}

/** Number of characters or elements, at least 1, as an empty list takes memory, too. */
function sizeOf(value: unknown): number {
  const isLong = typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array;
  return isLong ? value.length + 8 : 8;
}

type Variables = Readonly<Record<string, CelValue>>;

function identity(variables: Variables): Variables {
  return variables;
}

function withoutPrototype(variables: Variables): Variables {
  return Object.assign(Object.create(null) as Variables, variables);
}

/** Type-checks an expression. CEL requires both branches of `a ? 1 : 0.5` to have the same type; here they need not. */
function checked(source: string, parsed: ParseResult): ParseResult {
  const { error } = parsed.check();
  if (error === undefined) return parsed;
  if (error.code !== 'incompatible_ternary_branches') throw explained(source, error);
  const relaxed = parse(loosened(parsed.ast));
  const { error: remaining } = relaxed.check();
  if (remaining !== undefined) throw explained(source, remaining);
  return relaxed;
}

/** The same text with both branches of every `?:` marked as dynamically typed. */
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
  // From right to left, so that the remaining positions stay valid.
  return marks
    .sort((left, right) => right.at - left.at)
    .reduce((text, { at, text: mark }) => text.slice(0, at) + mark + text.slice(at), node.input);
}

const typeNames = lazy(
  () =>
    new Set(
      celEnvironment()
        .getDefinitions()
        .variables.map(({ name }) => name),
    ),
);

/** Collects the free variables and refuses unknown functions. `bound`: variables that an enclosing macro defines. */
function visit(node: ASTNode, names: Set<string>, bound: readonly string[]): void {
  if (node.op === 'id' && !bound.includes(node.args) && !typeNames().has(node.args)) names.add(node.args);
  if (node.op === 'call' || node.op === 'rcall') refuseUnknownFunction(node.args[0], node);
  refuseOddPattern(node);
  const binder = binderOf(node);
  if (binder === null) return childrenOf(node).forEach((child) => visit(child, names, bound));
  visit(binder.source, names, bound);
  binder.body.forEach((part) => visit(part, names, [...bound, binder.variable]));
}

/** A call that defines a variable. `source`: where its values come from. `body`: the parts in its scope. */
type Binder = {
  readonly name: string;
  readonly variable: string;
  readonly source: ASTNode;
  readonly body: readonly ASTNode[];
};

/** Macros whose first argument is a variable, and their possible numbers of arguments. */
const binders: ReadonlyMap<string, readonly number[]> = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['map', [2, 3]],
  ['filter', [2]],
]);

/** The binder of `list.all(x, …)` and the like, or of `cel.bind(x, value, …)`; null: the call is neither. */
function binderOf(node: ASTNode): Binder | null {
  if (node.op !== 'rcall') return null;
  const [name, receiver, [first, ...others]] = node.args;
  if (first?.op !== 'id') return null;
  const variable = first.args;
  if (isNamespace(receiver)) return name === 'bind' ? bind(variable, others) : null;
  const isMacro = binders.get(name)?.includes(1 + others.length) ?? false;
  return isMacro ? { name, variable, source: receiver, body: others } : null;
}

function isNamespace(node: ASTNode): boolean {
  return node.op === 'id' && node.args === 'cel';
}

function bind(variable: string, [source, ...body]: readonly ASTNode[]): Binder | null {
  return source === undefined || body.length !== 1 ? null : { name: 'bind', variable, source, body };
}

/** Checks a literal pattern at once; any other is checked when it is used. */
function refuseOddPattern(node: ASTNode): void {
  if (node.op !== 'rcall' || node.args[0] !== instead.get('matches')) return;
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
  if (celFunctions().includes(name) || ownNames.has(name)) return;
  throw new ExpressionError(`there is no function \`${name}\`. ${didYouMean(name, celFunctions())}`, node.range);
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

/** Translates the library's errors. Its own message contains a drawing of the place, which is drawn elsewhere here. */
function explained(source: string, error: unknown): ExpressionError {
  if (error instanceof ExpressionError) return error;
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
    .replace(/\b\w+Instead\b/g, (name) => ownNames.get(name) ?? name)
    .replace(/\b[LR](?:PAREN|BRACKET|BRACE)\b|\bIDENTIFIER\b/g, (token) => tokens[token] ?? token)
    .replace(/^found no matching overload for '(.*)'$/, 'the arguments do not fit in $1')
    .replace(/^no such overload: /, 'these types do not match: ')
    .replace(/dyn<(\w+)>/g, '$1')
    .replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

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
  if (source[at] === '}') throw new ExpressionError('this `}` has no `{`; write `}}` for a brace', spanOf(at, 1));
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
  throw new ExpressionError('this `{` is not closed; write `{{` for a brace', spanOf(open, 1));
}

function textOf(
  part: { expression: Expression; start: number },
  variables: Readonly<Record<string, CelValue>>,
): string {
  const result = moved(part.start, () => part.expression.evaluate(variables));
  const value = fromCel(result);
  if (value === null || Array.isArray(value.value)) {
    const inside = spanOf(part.start, part.expression.source.length);
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

function spanOf(start: number, length: number): { start: number; end: number } {
  return { start, end: start + length };
}
