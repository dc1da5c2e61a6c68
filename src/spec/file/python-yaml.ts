import type { DocumentOptions, ScalarTag, SchemaOptions } from 'yaml';

/**
 * The words and numbers of YAML 1.1 as Python's reader (PyYAML) has them: `yes`, `off`, `1_000`, `0x1f`, `017`, `1:30`.
 *
 * But for numbers like `1e-3` and `2.0e5`, which Python takes for texts since they lack a point or the exponent's sign.
 * W&B passes them on to its server without quotes, and the reader there takes them for numbers, which is what programs
 * get in the end; so they are numbers here. Dates stay texts: W&B cannot pass on any.
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

/** Digits after a prefix: `0b`, `0x`, or a lone `0`, which means eight. */
function based(text: string, base: number): number {
  const sign = text.startsWith('-') ? -1 : 1;
  return sign * Number.parseInt(bare(text).replace(/^[-+]?0[bx]?/, '') || '0', base);
}

/** `1:30` is 90: minutes and seconds, or degrees. */
function sexagesimal(text: string): number {
  const sign = text.startsWith('-') ? -1 : 1;
  const parts = bare(text).replace(/^[-+]/, '').split(':');
  return sign * parts.reduce((sum, part) => 60 * sum + Number(part), 0);
}
