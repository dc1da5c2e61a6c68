import { didYouMean } from '../../text/nearest.js';
import type { KeyPath, Report } from '../file/diagnostic.js';
import { holdsFraction } from '../file/parameter-schema.js';
import {
  type Block,
  type Edit,
  isInherited,
  type Located,
  parameterNames,
  type ParameterRule,
  type ParameterRules,
} from '../file/sweep-file.js';
import { type CommandWords, compileWords, WordError, type WordsContext } from './command-words.js';
import { type CelValue, identifierOf, toCel, type Value } from './expression/cel-environment.js';
import {
  compileExpression,
  compileTemplate,
  type Expression,
  ExpressionError,
  type Template,
} from './expression/expression.js';
import type { Nesting, Writing } from './value-text.js';
import { type Distribution, gridValues, onlyValue, probability, quantile } from './sampling/distribution.js';

/** A parameter that must be computed at each point. */
export type Step = {
  readonly name: string;
  readonly identifier: string;
  readonly rule: ParameterRule;
  readonly when: Expression | null;
  readonly expr: Expression | null;
};

/** One case of a block, or the block itself when it has none. */
export type Variant = {
  /** Axes that the case adds to the block's, in its order. */
  readonly axes: readonly Axis[];
  /** Steps in the order in which they can be computed. */
  readonly steps: readonly Step[];
  /** All parameters that may be set, in file order. */
  readonly names: readonly string[];
};

/** A value as it is passed to the program, and as expressions see it. */
export type AxisValue = readonly [Value, CelValue];

/** The values of one parameter. A constant is an axis of one value. */
export type Axis = {
  readonly name: string;
  readonly identifier: string;
  readonly constant: boolean;
  /** Each drawn point is run with every one of the values. */
  readonly crossed: boolean;
  /** Empty for a parameter that is drawn from a distribution. */
  readonly values: readonly AxisValue[];
  /** Whether every place of the axis has a value of its own. */
  readonly continuous: boolean;
  /** Whether all its values are equally likely. */
  readonly even: boolean;
  /** The value at a place of the axis. @param u Between 0 and 1, both excluded. */
  readonly draw: (u: number) => AxisValue;
  /** The inverse of `draw`: the share of draws at or below a value; NaN for a value that the axis does not have. */
  readonly placeOf: (value: Value) => number;
};

/** An entry of `include` or `exclude`. */
export type CompiledEdit = readonly { readonly name: string; readonly identifier: string; readonly value: AxisValue }[];

/** A block with every expression, template and macro compiled once. */
export type CompiledBlock = {
  readonly block: Block;
  readonly axes: readonly Axis[];
  readonly variants: readonly Variant[];
  /** The variant of points that `include` adds: no case, no axes. */
  readonly bare: Variant;
  readonly include: readonly CompiledEdit[];
  readonly exclude: readonly CompiledEdit[];
  readonly when: Located<Expression> | null;
  readonly name: Located<Template> | null;
  readonly subgroup: Located<Template> | null;
  readonly total: Located<Expression> | null;
  readonly command: CommandWords;
  readonly resumeArgs: CommandWords;
  /** The command of its done rule; null: the rule is of another kind. */
  readonly done: CommandWords | null;
  readonly cwd: CommandWords | null;
  readonly folders: CommandWords;
  readonly env: CommandWords;
  readonly nesting: Nesting;
  readonly writing: Writing;
};

/** Limit on the number of runs of a sweep: more are probably a mistake in an axis, and would exhaust the memory. */
export const mostRuns = 200_000;

/** Compiles a block. @returns null when something could not be compiled; all mistakes were reported. */
export function compileBlock(block: Block, report: Report): CompiledBlock | null {
  let clean = true;
  const compiler = new Compiler(block, (mistake) => {
    clean = false;
    report(mistake);
  });
  const compiled = compiler.compile();
  return clean ? compiled : null;
}

/** Compiles the texts of one block; reports mistakes and continues. */
class Compiler {
  readonly #block: Block;
  readonly #report: Report;
  /** Every parameter that any case of the block may set. */
  readonly #parameters: readonly string[];
  readonly #identifiers: ReadonlySet<string>;

  constructor(block: Block, report: Report) {
    this.#block = block;
    this.#report = report;
    this.#parameters = parameterNames(block);
    this.#identifiers = new Set(this.#parameters.map(identifierOf));
  }

  compile(): CompiledBlock {
    const block = this.#block;
    const { content: done } = block.done;
    this.#checkDone();
    this.#checkStopRule();
    const variants = this.#variants();
    return {
      block,
      axes: axesOf(block.parameters, this.#isGrid),
      variants,
      bare: block.cases.length === 0 || block.include.content.length === 0 ? variants[0]! : this.#variant(new Map()),
      include: block.include.content.map((edit) => compiledEdit(edit, block.parameters)),
      exclude: block.exclude.content.map((edit) => compiledEdit(edit, block.parameters)),
      when: this.#written(block.when, (source) => this.#expression(source, block.when!.keys)),
      name: this.#written(block.name, (source) => this.#template(source, block.name!.keys)),
      subgroup: this.#written(block.subgroup, (source) => this.#template(source, block.subgroup!.keys)),
      total: this.#total(),
      command: this.#command(),
      resumeArgs: this.#words(block.resumeArgs.content, block.resumeArgs.keys),
      done: 'command' in done ? this.#words(done.command, [...block.done.keys, 'command']) : null,
      cwd: block.cwd && this.#words([block.cwd.content], block.cwd.keys.slice(0, -1), [block.cwd.keys.at(-1)!]),
      folders: this.#words(block.folders.content, block.folders.keys),
      env: this.#words(Object.values(block.env.content), block.env.keys, Object.keys(block.env.content)),
      nesting: nestingOf(block),
      writing: writingOf(block),
    };
  }

  get #isGrid(): boolean {
    return this.#block.method.content.kind === 'grid';
  }

  #command(): CommandWords {
    const { command, keys } = this.#block;
    if (command.content.length === 0) {
      const problem = 'there is no `command`, and none to inherit.';
      this.#report({ keys, problem, fix: 'Add `command: [python, train.py, "${args}"]`, or whatever the runs are.' });
    }
    try {
      return compileWords(command.content, { ...this.#context, dialect: this.#block.dialect });
    } catch (error) {
      return this.#wordMistake(error, command.keys);
    }
  }

  #checkStopRule(): void {
    const rule = this.#block.stopWhen;
    if (rule === null) return;
    this.#guard(rule.keys, () => compileExpression(rule.content.when));
    this.#refuseSlashed(rule);
  }

  #refuseSlashed(rule: NonNullable<Block['stopWhen']>): void {
    const { keys } = rule;
    const slashed = /[A-Za-z_]\w*(?:\/[A-Za-z_]\w*)+/.exec(rule.content.when);
    const name = slashed?.[0] ?? '';
    if (slashed === null || name.split('/').some((part) => this.#identifiers.has(part))) return;
    const problem = `\`${name}\` reads as a division.`;
    const span = { start: slashed.index, end: slashed.index + name.length };
    this.#report({ keys, span, problem, fix: `Write the metric as \`${identifierOf(name)}\`.` });
  }

  #checkDone(): void {
    const { content, keys } = this.#block.done;
    const where = 'file' in content ? content.where : undefined;
    if (where !== undefined) this.#guard([...keys, 'where'], () => compileExpression(where));
  }

  #variants(): Variant[] {
    const { cases } = this.#block;
    return (cases.length === 0 ? [new Map()] : cases).map((one: ParameterRules) => this.#variant(one));
  }

  #variant(one: ParameterRules): Variant {
    const all: ParameterRules = new Map([...this.#block.parameters, ...one]);
    const included = this.#block.include.content.flatMap((edit) => Object.keys(edit));
    return {
      axes: axesOf(one, this.#isGrid),
      steps: this.#steps(all),
      names: [...new Set([...all.keys(), ...included])],
    };
  }

  #steps(rules: ParameterRules): Step[] {
    const steps = new Map<string, Step>();
    for (const [name, rule] of rules) {
      if (rule.kind !== 'derived' && rule.when === null) continue;
      steps.set(identifierOf(name), {
        name,
        identifier: identifierOf(name),
        rule,
        when: rule.when === null ? null : this.#expression(rule.when, below(rule.keys, 'when')),
        expr: rule.kind !== 'derived' ? null : this.#expression(rule.expr, below(rule.keys, 'expr')),
      });
    }
    return this.#ordered(steps);
  }

  #ordered(steps: ReadonlyMap<string, Step>): Step[] {
    const needs = [...steps].map(([identifier, step]) => {
      // `when` of an axis may depend on the axis's own value.
      const own = (step.when?.names ?? []).filter((name) => name !== identifier || step.rule.kind === 'derived');
      return [identifier, [...own, ...(step.expr?.names ?? [])]] as const;
    });
    const order = dependencyOrder(new Map(needs));
    if (order.kind === 'order') return order.names.map((identifier) => steps.get(identifier)!);
    const problem = `these parameters are computed from each other: ${order.ring.join(' → ')}.`;
    this.#report({ keys: steps.get(order.ring[0]!)!.rule.keys, problem, fix: 'Give one of them a value of its own.' });
    return [];
  }

  #total(): Located<Expression> | null {
    const { progress } = this.#block;
    if (progress === null) return null;
    const keys = [...progress.keys, 'total'];
    const expression = this.#guard(keys, () => compileExpression(String(progress.content.total)));
    if (expression === null) return null;
    // A key above the groups applies to groups with its parameters; that one exists is checked for the whole file.
    if (isInherited(progress, this.#block) && !expression.names.every((name) => this.#identifiers.has(name)))
      return null;
    this.#checkVariables(expression, keys);
    return { content: expression, keys };
  }

  #expression(source: string, keys: KeyPath | null): Expression | null {
    const expression = this.#guard(keys, () => compileExpression(source));
    if (expression !== null) this.#checkVariables(expression, keys);
    return expression;
  }

  #template(source: string, keys: KeyPath): Template | null {
    const template = this.#guard(keys, () => compileTemplate(source));
    if (template !== null) this.#checkVariables(template, keys);
    return template;
  }

  #checkVariables({ source, names }: { source: string; names: readonly string[] }, keys: KeyPath | null): void {
    for (const name of new Set(names)) {
      if (this.#identifiers.has(name)) continue;
      const start = source.search(new RegExp(`\\b${name}\\b`));
      const problem = `there is no parameter \`${name}\`. ${didYouMean(name, [...this.#identifiers])}`;
      const fix = `Correct the name, or add \`${name}\` to \`parameters\`.`;
      this.#report({ keys, span: { start: Math.max(0, start), end: Math.max(0, start) + name.length }, problem, fix });
    }
  }

  get #context(): WordsContext {
    const { program, each } = this.#block;
    return { parameters: this.#parameters, program, after: each?.after === true, dialect: 'own' };
  }

  #words(words: readonly string[], keys: KeyPath, indices?: readonly (string | number)[]): CommandWords {
    try {
      return compileWords(words, this.#context);
    } catch (error) {
      return this.#wordMistake(error, keys, indices);
    }
  }

  #wordMistake(error: unknown, keys: KeyPath, indices?: readonly (string | number)[]): CommandWords {
    if (!(error instanceof WordError)) throw error;
    const place = [...keys, indices?.[error.index] ?? error.index];
    this.#report({ keys: place, span: error, problem: sentence(error.message), fix: 'Correct the macro.' });
    return compileWords([], this.#context);
  }

  #guard<Result>(keys: KeyPath | null, work: () => Result): Result | null {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      this.#report({ keys, span: error, problem: sentence(error.message), fix: 'Correct the expression.' });
      return null;
    }
  }

  #written<Compiled>(
    text: Located<string> | null,
    compile: (source: string) => Compiled | null,
  ): Located<Compiled> | null {
    const content = text && compile(text.content);
    return text && content && { content, keys: text.keys };
  }
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

function below(keys: KeyPath | null, key: string): KeyPath | null {
  return keys && [...keys, key];
}

/** Nested parameters of a W&B file. In our own files a nested parameter is passed under its full name. */
function nestingOf({ dialect, parameters }: Block): Nesting {
  if (dialect === 'own') return new Map();
  return new Map([...parameters].filter(([, { path }]) => path.length > 1).map(([name, { path }]) => [name, path]));
}

/**
 * The notation of numbers in our own files, which arguments keep; W&B's files are passed as W&B does. Numbers in a case come before
 * those for all.
 */
export function writingOf({ dialect, parameters, cases, writtenInInclude }: Block): Writing {
  const writing = new Map<string, Map<number, string>>();
  if (dialect === 'wandb') return writing;
  const rules = [...cases, parameters].flatMap((one) => [...one]);
  const ofRules = rules.map(([name, rule]) => [name, rule.kind === 'axis' ? rule.written : []] as const);
  for (const [name, written] of [...ofRules, ...writtenInInclude]) {
    const known = writing.get(name) ?? new Map<number, string>();
    for (const [value, text] of written) if (!known.has(value)) known.set(value, text);
    if (known.size > 0) writing.set(name, known);
  }
  return writing;
}

/** The axes of a grid, or those to draw from. Computed parameters have none. */
export function axesOf(rules: ParameterRules, isGrid: boolean): Axis[] {
  return [...rules].flatMap(([name, rule]) => axisOf(name, rule, isGrid) ?? []);
}

function axisOf(name: string, rule: ParameterRule, isGrid: boolean): Axis | null {
  const named = { name, identifier: identifierOf(name) };
  if (rule.kind === 'derived') return null;
  if (rule.kind === 'axis') {
    const values = rule.values.map((value) => pair(value, rule.double));
    const { constant, crossed, probabilities } = rule;
    return {
      ...named,
      constant,
      crossed,
      values,
      continuous: false,
      even: probabilities === null,
      draw: drawFrom(values, probabilities),
      placeOf: placeIn(values, probabilities),
    };
  }
  const { name: kind, q } = rule.distribution;
  const listed = isGrid ? gridValues(rule.distribution, mostRuns) : onlyValue(rule.distribution);
  const values = (listed ?? []).map((value) => pair(value, !rule.distribution.whole));
  const placeOf = (value: Value) => (typeof value === 'number' ? probability(rule.distribution, value) : Number.NaN);
  return {
    ...named,
    constant: false,
    crossed: false,
    values,
    continuous: kind !== 'int_uniform' && q === null,
    even: false,
    draw: (u) => drawn(rule.distribution, u),
    placeOf,
  };
}

function pair(value: Value, double: boolean): AxisValue {
  return [value, toCel(value, double)];
}

function drawn(distribution: Distribution, u: number): AxisValue {
  return pair(quantile(distribution, u), !distribution.whole);
}

function drawFrom(values: readonly AxisValue[], probabilities: readonly number[] | null): Axis['draw'] {
  if (probabilities === null) return (u) => values[Math.floor(u * values.length)]!;
  return (u) => {
    let rest = u;
    const place = probabilities.findIndex((probability) => (rest -= probability) < 0);
    // Rounding may make the probabilities add up to slightly less than 1.
    return values[place < 0 ? probabilities.findLastIndex((probability) => probability > 0) : place]!;
  };
}

function placeIn(values: readonly AxisValue[], probabilities: readonly number[] | null): Axis['placeOf'] {
  const weights = probabilities ?? values.map(() => 1 / values.length);
  const texts = values.map(([value]) => JSON.stringify(value));
  return (value) => {
    const index = texts.indexOf(JSON.stringify(value));
    return index < 0 ? Number.NaN : weights.slice(0, index + 1).reduce((sum, weight) => sum + weight, 0);
  };
}

/** Compiles an entry of `include` or `exclude`; its numbers are of the same kind as on the axis of that name. */
function compiledEdit(edit: Edit, rules: ParameterRules): CompiledEdit {
  return Object.entries(edit).map(([name, value]) => {
    const rule = rules.get(name);
    const double = holdsFraction([value]) || (rule?.kind === 'axis' && rule.double);
    return { name, identifier: identifierOf(name), value: pair(value, double) };
  });
}

/** Names sorted so that each comes after those it needs, or a cycle of names that need each other (`a`, `b`, `a`). */
type DependencyOrder = { kind: 'order'; names: readonly string[] } | { kind: 'cycle'; ring: readonly string[] };

/**
 * Sorts names topologically, depth first in the given order, so that names without needs keep their order.
 *
 * @param needs Needed names that are not keys are skipped; the caller checks elsewhere that they exist.
 */
export function dependencyOrder(needs: ReadonlyMap<string, readonly string[]>): DependencyOrder {
  const names: string[] = [];
  const finished = new Set<string>();
  for (const name of needs.keys()) {
    const ring = place(name, { needs, names, finished, above: [] });
    if (ring) return { kind: 'cycle', ring };
  }
  return { kind: 'order', names };
}

type Walk = {
  needs: ReadonlyMap<string, readonly string[]>;
  names: string[];
  finished: Set<string>;
  above: readonly string[];
};

function place(name: string, walk: Walk): readonly string[] | null {
  if (walk.finished.has(name) || !walk.needs.has(name)) return null;
  const seen = walk.above.indexOf(name);
  if (seen >= 0) return [...walk.above.slice(seen), name];
  for (const needed of walk.needs.get(name)!) {
    const ring = place(needed, { ...walk, above: [...walk.above, name] });
    if (ring) return ring;
  }
  walk.finished.add(name);
  walk.names.push(name);
  return null;
}
