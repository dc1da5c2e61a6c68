import { parseDocument } from 'yaml';
import { UserError } from '../base/user-error.js';
import { parameterNames, type Block } from './block.js';
import { parameterRule, stopRule } from './blocks.js';
import { compileExpression, ExpressionError } from './expression.js';
import { didYouMean } from '../base/nearest.js';
import { ParameterText } from './sweep-schema.js';

/** One `--set`, such as `n_batches=500` or `A.N=[16, 64]`. */
type Override = { readonly text: string; readonly group: string | null; readonly key: string; readonly value: unknown };

/**
 * Blocks with `--set` applied. A value is read as YAML and may be whatever a parameter may be in the file: a constant,
 * a list (an axis), `{expr: …}`. Without a group it counts for every group that has the parameter.
 *
 * @throws {UserError} When nothing has that name, or the value cannot be one.
 */
export function applyOverrides(blocks: readonly Block[], sets: readonly string[]): Block[] {
  return sets.reduce<Block[]>(
    (current, text) => {
      const override = readOverride(text, current);
      const touched = current.filter((block) => concerns(override, block));
      if (touched.length === 0) throw unknownKey(override, current);
      return current.map((block) => (touched.includes(block) ? overridden(block, override) : block));
    },
    [...blocks],
  );
}

/** Keys of a group that can be set besides its parameters. */
const settable = ['stop_when', 'grace'];

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
  return hasParameter(block, key) || settable.includes(key);
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
  const { key } = override;
  if (hasParameter(block, key)) return withParameter(block, override);
  return key === 'grace' ? withGrace(block, override) : withStopRule(block, override);
}

function withParameter(block: Block, { text, key, value }: Override): Block {
  const read = ParameterText.safeParse(value);
  if (!read.success) {
    throw new UserError(
      `\`--set ${text}\`: a parameter cannot be that.`,
      'Give a value, a list of values, or {expr: "…"}.',
    );
  }
  const rule = parameterRule(read.data, null);
  const parameters = new Map(block.parameters);
  if (parameters.has(key) || !block.cases.some((one) => one.has(key))) parameters.set(key, rule);
  // What a case says of the parameter must give way too, or the option would do nothing there.
  const cases = block.cases.map((one) => (one.has(key) ? new Map([...one, [key, rule] as const]) : one));
  return { ...block, parameters, cases };
}

function withGrace(block: Block, { text, value }: Override): Block {
  if (typeof value !== 'number' || !(value >= 0)) {
    throw new UserError(`\`--set ${text}\`: \`grace\` is a number of seconds.`, 'Write for example `--set grace=30`.');
  }
  return { ...block, grace: value };
}

function withStopRule(block: Block, { text, value }: Override): Block {
  if (value === null) return { ...block, stopWhen: null };
  const isText = typeof value === 'string';
  const wrong = isText ? mistakeIn(value) : 'it is an expression over metrics, or null';
  if (isText && wrong === null) return { ...block, stopWhen: { content: stopRule(value), keys: [] } };
  throw new UserError(
    `\`--set ${text}\`: ${wrong}.`,
    'Write for example `--set \'stop_when="loss < 0.1"\'`, or `--set stop_when=null` to let runs go to their end.',
  );
}

function mistakeIn(expression: string): string | null {
  try {
    compileExpression(expression);
    return null;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}
