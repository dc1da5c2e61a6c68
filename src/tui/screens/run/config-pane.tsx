import { Box } from 'ink';
import type { ReactNode } from 'react';
import { tagsText } from '../../../base/annotation.js';
import { allParametersOf, anyParameterOf, isMapValue } from '../../../base/scalar.js';
import { type DiskUsage, totalUsage, usageKinds } from '../../../files/disk/disk-usage.js';
import { type MetricsReport, reportLines } from '../../../metrics/describe-sources.js';
import { slotText } from '../../../protocol/run-summary.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { memoryText, sizeText } from '../../../text/numbers.js';
import { shellQuote } from '../../../text/shell-words.js';
import { wrapWithin } from '../../../text/wrap.js';
import { isUnstarted } from '../../model/state-look.js';
import type { RunDetails, RunSummary } from '../../state/port.js';
import { fit, fitLine, type Line, span, type Tone } from '../../surface/span.js';
import { metricsReport } from '../../widgets/metrics-report.js';
import { Row, Rows, Text } from '../../widgets/text.js';

/** Inputs of the config pane. `details`: undefined until it has been read, null if there is none. */
type ShownConfig = {
  readonly run: RunSummary;
  readonly varying: ReadonlySet<string>;
  readonly details: RunDetails | null | undefined;
  /** Disk usage of the run; absent or null: not measured. */
  readonly disk?: DiskUsage | null;
  /** Where the run's metrics are; null until they have been read. */
  readonly metrics: MetricsReport | null;
};

/** Maximum rows of a command; a longer one is cut. */
const mostCommandRows = 40;
const leastColumn = 28;

/** The whole configuration of a run and its origin, parameters that distinguish it first. */
export function Config({ width, ...config }: ShownConfig & { readonly width: number }) {
  return (
    <>
      <Rows lines={parameterGrid(config, width)} />
      <Row line={[]} />
      {facts(config).map((fact) => (
        <KeyValue key={fact.name} name={fact.name} nameWidth={nameWidth}>
          <Rows lines={factLines(fact, width - nameWidth)} />
        </KeyValue>
      ))}
      <Row line={[]} />
      {/* The metrics come last, because they grow as the run writes. */}
      {!isUnstarted(config.run) && (
        <KeyValue name="metrics" nameWidth={nameWidth}>
          <Rows lines={metricsLines(config.metrics, width - nameWidth)} />
        </KeyValue>
      )}
    </>
  );
}

function metricsLines(metrics: MetricsReport | null, width: number): readonly Line[] {
  return metrics === null ? [[span('not read yet', 'faint')]] : metricsReport(reportLines(metrics), width);
}

type Pair = { readonly key: string; readonly value: string; readonly tone: Tone };

/** Names and exact values, column by column. */
function parameterGrid({ run, varying }: ShownConfig, width: number): Line[] {
  const keys = Object.keys(allParametersOf(run));
  const ordered = [...keys.filter((key) => varying.has(key)), ...keys.filter((key) => !varying.has(key))];
  if (ordered.length === 0) return [[span('no parameters', 'faint')]];
  const pairs = ordered.map((key): Pair => {
    const value = exactText(anyParameterOf(run, key));
    return { key: cleanText(key), value, tone: varying.has(key) ? 'strong' : 'plain' };
  });
  const keyWidth = Math.min(Math.max(...pairs.map(({ key }) => textWidth(key))), Math.floor(width / 2));
  const valueWidth = Math.max(...pairs.map(({ value }) => textWidth(value)));
  const each = Math.max(leastColumn, keyWidth + valueWidth + 4);
  const columns = Math.max(1, Math.floor((width + 2) / each));
  const rows = Math.ceil(pairs.length / columns);
  return Array.from({ length: rows }, (_, row) =>
    gridLine(
      pairs.filter((_pair, at) => at % rows === row),
      keyWidth,
      each,
    ),
  );
}

function gridLine(pairs: readonly Pair[], keyWidth: number, each: number): Line {
  return pairs.flatMap(({ key, value, tone }, column): Line => {
    const cell = [span(`${fit(key, keyWidth)}  `, tone === 'strong' ? 'accent' : 'dim'), span(value, tone)];
    return column === pairs.length - 1 ? cell : fitLine(cell, each);
  });
}

function exactText(value: RunSummary['parameters'][string] | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item) => exactText(item)).join(', ')}]`;
  return cleanText(isMapValue(value) ? JSON.stringify(value) : String(value));
}

type Fact = { readonly name: string; readonly text: string; readonly tone?: Tone };

function facts({ run, details, disk = null }: ShownConfig): Fact[] {
  const argv = details?.record.argv ?? run.argv;
  const here: (Fact | null)[] = [
    argv.length === 0 ? null : { name: 'command', text: shellQuote(argv.map(cleanText)) },
    { name: 'directory', text: cleanText(run.directory) },
    disk === null ? null : { name: 'disk', text: diskWords(disk) },
    run.slot === null ? null : { name: 'slot', text: slotText(run) },
    run.priority === 0 ? null : { name: 'priority', text: String(run.priority) },
    run.displayName === undefined ? null : { name: 'named', text: cleanText(run.displayName) },
    ...noted(run),
    ...written(details, run),
  ];
  return here.filter((fact) => fact !== null);
}

/** `1.2 GiB: 1.1 GiB checkpoints, 12 KiB metrics` */
function diskWords(disk: DiskUsage): string {
  const parts = usageKinds.filter((kind) => disk[kind] > 0).map((kind) => `${sizeText(disk[kind])} ${kind}`);
  const unread = disk.unread === 0 ? '' : '; not all of it could be looked into';
  return `${sizeText(totalUsage(disk))}: ${parts.join(', ')}${unread}`;
}

/** The user's annotations of the run. */
function noted({ annotation }: RunSummary): (Fact | null)[] {
  const tags = cleanText(tagsText(annotation));
  const note = annotation?.note ?? null;
  return [
    tags === '' ? null : { name: 'tags', text: tags, tone: 'accent' },
    note === null ? null : { name: 'note', text: cleanText(note) },
  ];
}

function written(details: ShownConfig['details'], { startedAt }: RunSummary): Fact[] {
  if (details === undefined) return [{ name: 'record', text: 'reading…', tone: 'faint' }];
  // Another program started it.
  if (details === null && startedAt !== null) return [];
  if (details === null)
    return [{ name: 'record', text: 'none yet: it is written when the run is started', tone: 'faint' }];
  const { record, packages } = details;
  return [
    ...(record.policy === undefined ? [] : [{ name: 'policy', text: cleanText(record.policy.join('; ')) }]),
    { name: 'cwd', text: cleanText(record.snapshot?.cwd ?? record.cwd) },
    ...(record.snapshot === undefined ? [] : [{ name: 'snapshot', text: cleanText(record.snapshot.path) }]),
    { name: 'host', text: cleanText([record.host, ...machineWords(record.machine)].join(' · ')) },
    codeFact(record.git),
    { name: 'packages', text: packageWords(record.packages ?? null, packages) },
    { name: 'identity', text: cleanText(record.identity), tone: 'dim' },
  ];
}

type RecordedRun = RunDetails['record'];

function machineWords(machine: RecordedRun['machine']): string[] {
  if (machine === undefined) return [];
  const gpus = machine.gpus.length === 0 ? [] : [machine.gpus.join(', ')];
  const memory = memoryText(machine.memory);
  return [machine.os, `${machine.cpu}, ${machine.cores} cores`, memory, ...gpus, `node ${machine.node}`];
}

function codeFact(git: RecordedRun['git']): Fact {
  if (git === null) return { name: 'commit', text: 'not in a git repository', tone: 'dim' };
  const branch = git.branch === undefined || git.branch === null ? '' : ` on ${git.branch}`;
  const at = cleanText(`${git.commit.slice(0, 12)}${branch}`);
  if (!git.dirty) return { name: 'commit', text: `${at}, nothing changed since` };
  const kept = typeof git.diff === 'string' ? `: ${cleanText(git.diff)}` : '';
  return { name: 'commit', text: `${at} with changes${kept}`, tone: 'warn' };
}

function packageWords(file: string | null, count: number | null): string {
  if (file === null) return 'not known';
  return count === null ? cleanText(file) : `${count} in ${cleanText(file)}`;
}

const nameWidth = 11;

function factLines({ text, tone = 'plain' }: Fact, width: number): Line[] {
  return wrapWithin(text, Math.max(8, width), mostCommandRows).map((piece): Line => [span(piece, tone)]);
}

type Props = {
  readonly name: string;
  readonly tone?: Tone;
  /** Columns of the names, with the space after the longest. */
  readonly nameWidth: number;
  readonly children: ReactNode;
};

/** A name, and beside it its value on any number of rows. */
function KeyValue({ name, tone = 'dim', nameWidth, children }: Props) {
  return (
    <Box flexShrink={0}>
      <Box width={nameWidth} flexShrink={0}>
        <Text tone={tone}>{name}</Text>
      </Box>
      <Box flexDirection="column" flexGrow={1}>
        {children}
      </Box>
    </Box>
  );
}
