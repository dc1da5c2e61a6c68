import { parseDocument } from 'yaml';
import { UserError } from '../../base/user-error.js';
import { didYouMean } from '../../text/nearest.js';
import { compileExpression, ExpressionError } from '../expand/expression/expression.js';
import { Breaker, EarlyTerminate, Objective, RetryRule } from '../planned-run.js';
import { type Block, type Method, methodFrom, parameterNames } from './block.js';
import { stopRule } from './blocks.js';
import { isOwn } from './each-run.js';
import { parameterRule, ParameterText } from './parameter-schema.js';
import { sharedShape } from './sweep-schema.js';

/** One `--set`, such as `n_batches=500` or `A.N=[16, 64]`. */
type Override = { readonly text: string; readonly group: string | null; readonly key: string; readonly value: unknown };

/**
 * Applies `--set` to blocks. A value is parsed as YAML and may be anything that a parameter may be in the file: a constant, a list
 * (an axis), `{expr: …}`. Without a group it applies to every group that has the parameter. `env.NAME=text` sets a variable of all
 * runs.
 *
 * @throws {UserError} When nothing has that name, or the value does not fit.
 */
export function applyOverrides(blocks: readonly Block[], sets: readonly string[]): Block[] {
  return sets.reduce<Block[]>(
    (current, text) => {
      const variable = variableIn(text, current);
      if (variable !== null) return current.map((block) => withVariables(block, variable));
      const override = readOverride(text, current);
      const touched = current.filter((block) => concerns(override, block));
      if (touched.length === 0) throw unknownKey(override, current);
      return current.map((block) => (touched.includes(block) ? overridden(block, override) : block));
    },
    [...blocks],
  );
}

/** The variable of `env.WANDB_MODE=online`; null: the text sets something else, such as a parameter nested in `env`. */
export function variableIn(text: string, blocks: readonly Block[]): Record<string, string> | null {
  const [, name, value] = /^env\.([A-Z_][A-Z0-9_]*)=([^]*)$/.exec(text) ?? [];
  if (name === undefined || blocks.some((block) => hasParameter(block, `env.${name}`))) return null;
  return { [name]: value! };
}

/** Adds variables to those of the file, or replaces them. */
function withVariables(block: Block, variables: Record<string, string>): Block {
  return { ...block, env: { content: { ...block.env.content, ...variables }, keys: block.env.keys } };
}

/** Keys of a group that can be set besides its parameters, and how each value is applied after its schema has parsed it. */
const setters: Readonly<Record<string, (block: Block, value: never) => Block>> = {
  stop_when: (block, value: Parameters<typeof stopRule>[0] | null) => ({
    ...block,
    stopWhen: value === null ? null : { content: stopRule(value), keys: [] },
  }),
  grace: (block, grace: number) => ({ ...block, grace }),
  timeout: (block, timeout: number | null) => ({ ...block, timeout }),
  priority: (block, priority: number) => ({ ...block, priority }),
  stdin: (block, stdin: Block['stdin']) => ({ ...block, stdin }),
  terminal: (block, terminal: boolean) => ({ ...block, terminal }),
  retry: (block, value: object) => ({ ...block, retry: RetryRule.parse(value) }),
  breaker: (block, value: object | false) => ({ ...block, breaker: value === false ? null : Breaker.parse(value) }),
  metric: (block, value: object | null) => ({ ...block, objective: value && Objective.parse(value) }),
  early_terminate: (block, value: object | null) => ({
    ...block,
    earlyTerminate: value && { content: EarlyTerminate.parse(value), keys: ['early_terminate'] },
  }),
  method: (block, kind: Method['kind']) => withMethod(block, { kind }),
  run_cap: (block, cap: number) => withMethod(block, { cap }),
  sample_seed: (block, seed: number) => withMethod(block, { seed }),
};
const settable = Object.keys(setters);

function withMethod(block: Block, change: { kind?: Method['kind']; cap?: number; seed?: number }): Block {
  const { content, keys } = block.method;
  const before = { seed: 0, ...content };
  const cap = change.cap ?? before.cap;
  const seed = change.seed ?? before.seed;
  const method = methodFrom(change.kind ?? before.kind, { cap, seed, dialect: block.dialect });
  return { ...block, method: { content: method, keys } };
}

function readOverride(text: string, blocks: readonly Block[]): Override {
  const equals = text.indexOf('=');
  if (equals < 1) throw new UserError(`\`--set ${text}\` has no value.`, 'Write it as `--set name=value`.');
  const left = text.slice(0, equals).trim();
  const value = yamlValue(text, text.slice(equals + 1));
  const dot = left.indexOf('.');
  const group = left.slice(0, dot);
  const grouped = dot > 0 && blocks.some((block) => block.group === group);
  return grouped ? { text, group, key: left.slice(dot + 1), value } : { text, group: null, key: left, value };
}

function yamlValue(text: string, source: string): unknown {
  const document = parseDocument(source, { prettyErrors: false, logLevel: 'error' });
  const [error] = document.errors;
  if (error === undefined) return document.toJS() as unknown;
  throw new UserError(
    `The value in \`--set ${text}\` is not YAML: ${error.message}.`,
    'Put a text with special characters in quotes: --set \'name="a: b"\'.',
  );
}

function concerns({ group, key }: Override, block: Block): boolean {
  if (group !== null && group !== block.group) return false;
  // A parameter that comes from runs of another group is set there.
  return hasParameter(block, key) ? group !== null || isOwn(block, key) : settable.includes(key);
}

function hasParameter(block: Block, key: string): boolean {
  return parameterNames(block).includes(key);
}

function unknownKey({ text, group, key }: Override, blocks: readonly Block[]): UserError {
  const among = blocks.filter((block) => group === null || block.group === group);
  const known = [...new Set(among.flatMap(parameterNames))];
  const place = group === null ? 'This sweep' : `Group \`${group}\``;
  return new UserError(
    `${place} has no parameter \`${key}\` to set (\`--set ${text}\`). ${didYouMean(key, [...known, ...settable])}`,
    'Set a parameter that the file has; `--set GROUP.name=value` sets it in one group.',
  );
}

function overridden(block: Block, override: Override): Block {
  return hasParameter(block, override.key) ? withParameter(block, override) : withSetting(block, override);
}

function withParameter(block: Block, { text, key, value }: Override): Block {
  const read = ParameterText.safeParse(value);
  if (!read.success || isNested(read.data)) {
    throw new UserError(
      `\`--set ${text}\`: a parameter cannot be that.`,
      'Give a value, a list of values, or {expr: "…"}.',
    );
  }
  const written = block.parameters.get(key) ?? block.cases.find((one) => one.has(key))?.get(key);
  const rule = { ...parameterRule(read.data, null, unwritten), path: written?.path ?? [] };
  const parameters = new Map(block.parameters);
  if (parameters.has(key) || !block.cases.some((one) => one.has(key))) parameters.set(key, rule);
  // The parameter is replaced in all cases as well, or the option would have no effect there.
  const cases = block.cases.map((one) => (one.has(key) ? new Map([...one, [key, rule] as const]) : one));
  return { ...block, parameters, cases };
}

/** An option has no file text to take the notation of its numbers from. */
const unwritten = { writtenAsDouble: () => false, writtenNumbers: () => new Map<number, string>() };

function isNested(text: ParameterText): boolean {
  return typeof text === 'object' && text !== null && 'parameters' in text;
}

function withSetting(block: Block, { text, key, value }: Override): Block {
  const read = sharedShape[key as keyof typeof sharedShape].safeParse(value);
  const wrong = read.success ? mistakeIn(key, read.data) : `expected ${expectation(read.error.issues)}`;
  if (wrong === null) return setters[key]!(block, read.data as never);
  throw new UserError(`\`--set ${text}\`: ${wrong}.`, examples[key] ?? `Write for example \`--set ${key}=3\`.`);
}

const examples: Readonly<Record<string, string>> = {
  stop_when: 'Write for example `--set \'stop_when="loss < 0.1"\'`, or `--set stop_when=null` to let runs finish.',
  grace: 'Write for example `--set grace=30`.',
  timeout: 'Write for example `--set timeout=2h`, or `--set timeout=null`.',
  metric: "Write for example `--set 'metric={name: loss, goal: minimize}'`.",
  early_terminate: "Write for example `--set 'early_terminate={type: asha, min_iter: 5}'`, or `=null` for none.",
};

function expectation(issues: readonly { message: string }[]): string {
  return [...new Set(issues.map(({ message }) => message))].join(', ');
}

/** Checks `stop_when`, whose expression its schema does not parse. */
function mistakeIn(key: string, value: unknown): string | null {
  if (key !== 'stop_when' || value === null) return null;
  try {
    compileExpression(stopRule(value as Parameters<typeof stopRule>[0]).when);
    return null;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}
