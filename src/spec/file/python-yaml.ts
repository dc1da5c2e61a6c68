import type { DocumentOptions, ScalarTag, SchemaOptions } from 'yaml';

/**
 * The words and numbers of YAML 1.1 as Python's parser (PyYAML) reads them: `yes`, `off`, `1_000`, `0x1f`, `017`, `1:30`.
 *
 * The exception are numbers like `1e-3` and `2.0e5`, which PyYAML reads as texts since they lack a point or the exponent's sign.
 * W&B passes them to its server without quotes, and its parser reads them as numbers, which is what programs finally get; so they
 * are numbers here. Dates stay texts, as W&B cannot pass any.
 */
export const pythonYaml: SchemaOptions & DocumentOptions = {
  version: '1.1',
  schema: 'failsafe',
  merge: true,
  customTags: (tags) => [...tags, ...scalars],
};

const plain = (name: string, test: RegExp, resolve: (text: string) => unknown): ScalarTag => ({
  tag: `tag:yaml.org,2002:${name}`,
  default: true,
  test,
  resolve,
});

const scalars: readonly ScalarTag[] = [
  plain('null', /^(?:~|null|Null|NULL)?$/, () => null),
  plain('bool', /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/, () => true),
  plain('bool', /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/, () => false),
  plain('int', /^[-+]?0b[01_]+$/, (text) => based(text, 2)),
  plain('int', /^[-+]?0x[0-9a-fA-F_]+$/, (text) => based(text, 16)),
  plain('int', /^[-+]?0[0-7_]+$/, (text) => based(text, 8)),
  plain('int', /^[-+]?(?:0|[1-9][0-9_]*)$/, (text) => Number(bare(text))),
  plain('int', /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$/, sexagesimal),
  plain('float', /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/, sexagesimal),
  plain('float', /^[-+]?(?:[0-9][0-9_]*\.[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?$/, (text) => Number(bare(text))),
  plain('float', /^[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+$/, (text) => Number(bare(text))),
  plain('float', /^[-+]?\.(?:inf|Inf|INF)$/, (text) => (text.startsWith('-') ? -Infinity : Infinity)),
  plain('float', /^\.(?:nan|NaN|NAN)$/, () => NaN),
];

function bare(text: string): string {
  return text.replaceAll('_', '');
}

/** A number with a prefix: `0b`, `0x`, or a single `0` for octal. */
function based(text: string, base: number): number {
  const sign = text.startsWith('-') ? -1 : 1;
  return sign * Number.parseInt(bare(text).replace(/^[-+]?0[bx]?/, '') || '0', base);
}

/** A number in base 60: `1:30` is 90. */
function sexagesimal(text: string): number {
  const sign = text.startsWith('-') ? -1 : 1;
  const parts = bare(text).replace(/^[-+]/, '').split(':');
  return sign * parts.reduce((sum, part) => 60 * sum + Number(part), 0);
}
