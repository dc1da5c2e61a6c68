import type { Block, ParameterRule, Located } from '../file/block.js';
import type { CelValue } from './expression/cel-environment.js';
import type { Value } from './expression/cel-value.js';
import type { CommandWords } from './command-words.js';
import type { Expression } from './expression/expression.js';
import type { Nesting } from './nested-parameters.js';
import type { Template } from './template.js';

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
  /** In the order in which they can be computed. */
  readonly steps: readonly Step[];
  /** All parameters that may be set, in the order of the file. */
  readonly names: readonly string[];
};

/** A value as it is passed on, and as expressions see it. */
export type AxisValue = readonly [Value, CelValue];

/** A constant is an axis of one value. */
export type Axis = {
  readonly name: string;
  readonly identifier: string;
  readonly constant: boolean;
  /** Empty for a parameter that is drawn from a distribution. */
  readonly values: readonly AxisValue[];
  /** The value at a place of the axis. @param u Between 0 and 1, both excluded. */
  readonly draw: (u: number) => AxisValue;
};

/** An entry of `include` or `exclude`. */
export type CompiledEdit = readonly { readonly name: string; readonly identifier: string; readonly value: AxisValue }[];

/** A block with every expression, template and macro compiled once. */
export type CompiledBlock = {
  readonly block: Block;
  readonly axes: readonly Axis[];
  readonly variants: readonly Variant[];
  /** For the points that `include` brings in: no case, no axes. */
  readonly bare: Variant;
  readonly include: readonly CompiledEdit[];
  readonly exclude: readonly CompiledEdit[];
  readonly when: Located<Expression> | null;
  readonly name: Located<Template> | null;
  readonly subgroup: Located<Template> | null;
  readonly total: Located<Expression> | null;
  /** Of `stop_when`, which is evaluated elsewhere. */
  readonly stopWhen: Located<Expression> | null;
  readonly command: CommandWords;
  readonly resumeArgs: CommandWords;
  readonly cwd: CommandWords | null;
  readonly env: CommandWords;
  readonly nesting: Nesting;
};
