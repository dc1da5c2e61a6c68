import { commentText } from '../../text/display-text.js';
import { stringify } from 'yaml';
import type { MetricsReport } from '../../metrics/describe-sources.js';
import { shellQuote } from '../../text/shell-words.js';
import type { ProgramHelp } from './help-options.js';
import type { HelpOption } from './option-words.js';

/** The known facts about a program for which a sweep file is written. */
type Draft = {
  readonly command: readonly string[];
  /** Path of the new file. */
  readonly path: string;
  readonly help: ProgramHelp | null;
  /** Why its help text could not be read; null: it could. */
  readonly helpProblem: string | null;
  readonly trial: DraftTrial | null;
};

/** The result of a trial run. */
export type DraftTrial = {
  readonly problem: string | null;
  readonly metrics: MetricsReport;
  readonly shown: readonly string[];
  /**
   * Set if it wrote metrics to its working directory, and so may start in the directory of its run: its command from elsewhere, and
   * the folder of its modules. Null: it did not, or it failed.
   */
  readonly inRunDirectory: { readonly command: readonly string[]; readonly modules: string } | null;
};

/** A valid sweep file for a program, with all decisions as comments. Only a seed is varied, if the program has one. */
export function draftText(draft: Draft): string {
  const { help, path } = draft;
  const options = help?.options ?? [];
  const macro = macroOf(help);
  const active = options.filter(isSeed).slice(0, 1);
  const others = options.filter((option) => !active.includes(option));
  return [
    `# A sweep of: ${comment(shellQuote(draft.command))}`,
    `# The plan, which starts nothing: memrl-tui ${comment(shellQuote([path]))} --dry-run`,
    ...(draft.helpProblem === null ? [] : [`# ${comment(draft.helpProblem)}`]),
    '',
    ...commandLines(draft, macro),
    '',
    '# Fill in: a list is an axis of the grid, one value a constant. Remove the `#` of those that you want to set.',
    `${active.length === 0 ? '#' : ''}parameters:`,
    ...active.map((option) => `  ${key(option.name)}: [0, 1, 2]`),
    ...others.map((option) => optionLine(option, macro)),
    ...(options.length === 0 ? ['  #lr: [0.001, 0.0003]', '  #seed: [0, 1, 2]'] : []),
    '',
    ...metricLines(draft.trial),
    ...budgetLines(options, draft.trial),
    '# resources: { gpus: 1, per_gpu: 2 } # two runs share a GPU',
    '# retry: { max: 3, on: [crash, oom] }',
    '',
  ].join('\n');
}

const isSeed = ({ name, kind }: HelpOption) => kind === 'value' && /(^|[._-])seed$/i.test(name);

/** The command with the macro that passes parameters as the program's help text requires. */
function commandLines({ command, help, trial }: Draft, macro: Macro): string[] {
  return [
    `# \${${macro}}: every parameter as ${macros[macro]}.`,
    ...(help === null ? [] : toFillIn(help)),
    ...startLines(command, `\${${macro}}`, trial?.inRunDirectory ?? null),
  ];
}

/** Arguments that the user has to add to the command, by the program's help text. */
function toFillIn({ operands, options, format }: ProgramHelp): string[] {
  const hint = options.find(({ name }) => outputOption.test(name));
  const place = `${format === 'Hydra' ? '' : '--'}${hint?.name ?? ''}=\${run_dir}`;
  return [
    ...(operands.length === 0
      ? []
      : [`# Fill in: the program also takes ${comment(operands.join(' '))}; write it into \`command\`.`]),
    ...(hint === undefined
      ? []
      : [`# Fill in: each run has a directory of its own; add '${place}' so that it writes there.`]),
  ];
}

function startLines(command: readonly string[], args: string, own: DraftTrial['inRunDirectory']): string[] {
  if (own === null) return [`command: ${flow([...command, args])}`];
  return [
    '# The trial wrote its metrics where it was started. Each run is started in its own directory, so that no two share a file.',
    `command: ${flow([...own.command, args])}`,
    "cwd: '${run_dir}'",
    ...(command.includes('-m') ? [`env: { PYTHONPATH: ${flow(own.modules)} }`] : []),
  ];
}

const macros = {
  args: '--name=value',
  args_hydra: 'name=value',
  args_no_boolean_flags: '--name=value; true becomes --name, and false nothing',
} as const;
type Macro = keyof typeof macros;

function macroOf(help: ProgramHelp | null): Macro {
  if (help?.format === 'Hydra') return 'args_hydra';
  const hasFlags = help !== null && help.format !== 'absl' && help.options.some(({ kind }) => kind === 'flag');
  return hasFlags ? 'args_no_boolean_flags' : 'args';
}

/** Options for the output directory of a program. */
const outputOption = /^(out|output|log|save|run|work|checkpoint|ckpt)[_-]?(dir|path|folder)?$/i;

/** An option as a comment: `#lr: 0.001 # the rate`. Options that are not passed have the program's default. */
function optionLine(option: HelpOption, macro: Macro): string {
  // A flag that is on by default is turned off by its other name, as `false` passes nothing.
  const isOn = macro === 'args_no_boolean_flags' && option.kind === 'flag' && option.preset === 'true';
  const name = (isOn ? option.off : null) ?? option.name;
  const value = option.kind === 'flag' ? '[true, false]' : valueText(option, macro);
  const marks = [
    ...(option.required ? ['REQUIRED'] : []),
    ...(option.kind === 'several' ? ['several values: add them to `command`'] : []),
    ...(name === option.name ? [] : [`\`${option.name}\` is on by itself`]),
    ...offWords(option, macro),
    option.about,
  ].filter((mark) => mark !== '');
  const told = marks.length === 0 ? '' : `# ${comment(marks.join('; '))}`;
  return [`  #${key(name)}:`, value, told].filter((part) => part !== '').join(' ');
}

/** How to turn off a flag whose default is unknown. */
function offWords({ kind, off, preset }: HelpOption, macro: Macro): string[] {
  if (macro !== 'args_no_boolean_flags' || kind !== 'flag' || off === null || preset !== null) return [];
  return [`false passes nothing; \`${off}: true\` turns it off`];
}

/** A boolean as a word: a YAML boolean would be passed as a flag. */
function valueText({ choices, preset }: HelpOption, macro: Macro): string {
  if (choices.length > 0) return flow(choices);
  if (preset === null) return '';
  return macro === 'args_no_boolean_flags' && /^(true|false)$/i.test(preset) ? JSON.stringify(preset) : scalar(preset);
}

function metricLines(trial: DraftTrial | null): string[] {
  if (trial === null) {
    return [
      '# Fill in what to show of each run (`memrl-tui init --trial` finds it out):',
      '# metrics: { show: [loss], x: step }',
      '# metric: { name: loss, goal: minimize }',
    ];
  }
  const { shown, metrics, problem } = trial;
  const [first] = shown;
  const told = metrics.sources.filter(({ state }) => state === 'told');
  return [
    ...(problem === null ? [] : [`# ${comment(problem)}`]),
    ...told.map(
      ({ files, format, keys }) =>
        `# The trial wrote ${comment(`${keys.join(', ')} (${format}: ${files.map(placeWords).join(', ')})`)}.`,
    ),
    ...(first === undefined
      ? [
          '# The trial showed no metrics: `memrl-tui doctor --metrics RUN` says what is looked for.',
          '# metrics: { show: [loss], x: step }',
        ]
      : [
          `metrics: { show: ${flow([...shown])} }`,
          `# Fill in: what says how good a run is, and which way.`,
          `# metric: { name: ${flow(first)}, goal: ${isLarger(first) ? 'maximize' : 'minimize'} }`,
        ]),
  ];
}

/** Options for the length of training, and the corresponding counters in metrics. */
const budgets: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:(?:max|num|n|total|train)[_-])*(?:steps|iters|iterations)$/i, ['step', 'global_step', 'iter', 'iteration']],
  [/^(?:(?:max|num|n|total|train)[_-])*epochs$/i, ['epoch']],
];

/** The progress setting, once the user has set the option: its default is unknown to a sweep file. */
function budgetLines(options: readonly HelpOption[], trial: DraftTrial | null): string[] {
  const written = trial?.metrics.sources.flatMap(({ keys }) => keys) ?? [];
  for (const [pattern, counters] of budgets) {
    const name = options.find((option) => option.kind === 'value' && pattern.test(option.name))?.name;
    if (name === undefined) continue;
    const counter = counters.find((each) => written.includes(each)) ?? counters[0]!;
    return [
      // In an expression all other characters are underscores.
      `# With \`${comment(name)}\` set above, progress is known: metrics: { progress: { key: ${counter}, total: ${name.replace(/\W/g, '_')} } }`,
      `# and a larger value continues runs that are done, if the program resumes: extends: ${comment(name)}`,
    ];
  }
  return [];
}

/** A path without the folders of the trial, which are deleted. */
function placeWords(file: string): string {
  return file.replace(/^.*memrl-init-[^/]*\/(run|work)\//, '').replace(/^(\.\.\/)work\//, '');
}

const isLarger = (metric: string) =>
  /reward|return|score|acc|correct|success|bits|f1|auc|bleu|rouge|iou|map/i.test(metric);

/** A value as YAML: a number if the text is one. */
function scalar(text: string): string {
  if (/^(true|false)$/i.test(text)) return text.toLowerCase();
  const isNumber = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/.test(text) && Number.isFinite(Number(text));
  return flow(isNumber ? Number(text) : text);
}

function key(name: string): string {
  return flow(name);
}

function flow(value: unknown): string {
  const text = stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trimEnd();
  // A text with several lines would leave its comment.
  return text.includes('\n') ? JSON.stringify(value) : text;
}

/** A program's text as a comment: on one line, shortened. */
function comment(text: string): string {
  const line = commentText(text).trim();
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

const longest = 160;
