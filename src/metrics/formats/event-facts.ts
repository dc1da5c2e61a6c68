import { headOrEmpty } from '../../files/regular-file.js';
import { Fields, wire } from '../binary/protobuf.js';
import { isSound, RECORD_HEAD, recordLength } from './event-record.js';

/** What an event file says of its run beside its numbers. `hparams`: of TensorBoard's plugin. `texts`: by tag, as `add_text` has them. */
export type EventFacts = {
  readonly hparams: Readonly<Record<string, string | number | boolean>>;
  readonly texts: Readonly<Record<string, string>>;
};

/** Settings are written first, bytes. */
const HEAD = 128 << 10;

const event = { summary: 5 };
const value = { tag: 1, tensor: 8, metadata: 9 };
/** `SummaryMetadata.plugin_data` and its fields. */
const metadata = { plugin: 1, name: 1, content: 2 };
const TENSOR_TEXT = 8;
/** `HParamsPluginData.session_start_info.hparams`: a map. */
const hparams = { start: 3, map: 1, key: 1, value: 2 };
/** `google.protobuf.Value`. */
const scalar = { number: 2, text: 3, truth: 4 };

/** Names of the plugins that write settings, as a message holds them: field 1, length, text. */
const pluginNames = ['\n\u0007hparams', '\n\u0004text'];

/** Reads the beginning of an event file. Only events that contain a plugin's name are parsed: nearly all are numbers alone. */
export function readEventFacts(path: string): EventFacts {
  const bytes = headOrEmpty(path, HEAD);
  const facts = { hparams: {}, texts: {} };
  let names = pluginNames.map((name) => ({ name, at: placeOf(bytes, name, 0) }));
  for (let at = 0; names.length > 0 && at + RECORD_HEAD <= bytes.length;) {
    const length = recordLength(bytes, at);
    if (length === null || at + length > bytes.length) break;
    const end = at + length;
    if (names.some((each) => each.at < end)) {
      if (isSound(bytes, at, end)) takeEvent(bytes, [at + RECORD_HEAD, end - 4], facts);
      names = names.map((each) => (each.at < end ? { ...each, at: placeOf(bytes, each.name, end) } : each));
    }
    names = names.filter((each) => each.at < Infinity);
    at = end;
  }
  return facts;
}

function placeOf(bytes: Buffer, name: string, from: number): number {
  const at = bytes.indexOf(name, from, 'latin1');
  return at < 0 ? Infinity : at;
}

type Range = readonly [from: number, to: number];
type Writable = { hparams: Record<string, string | number | boolean>; texts: Record<string, string> };

function takeEvent(bytes: Buffer, [from, to]: Range, facts: Writable): void {
  for (const summary of partsOf(bytes, [from, to], event.summary))
    for (const each of partsOf(bytes, summary, 1)) takeValue(bytes, each, facts);
}

function takeValue(bytes: Buffer, range: Range, facts: Writable): void {
  const textOf = (number: number): string => {
    const [part] = partsOf(bytes, range, number);
    return part === undefined ? '' : bytes.toString('utf8', ...part);
  };
  const [about] = partsOf(bytes, range, value.metadata);
  const [plugin] = about === undefined ? [] : partsOf(bytes, about, metadata.plugin);
  if (plugin === undefined) return;
  const [name] = partsOf(bytes, plugin, metadata.name);
  const pluginName = name === undefined ? '' : bytes.toString('utf8', ...name);
  if (pluginName === 'hparams')
    for (const part of partsOf(bytes, plugin, metadata.content)) takeHparams(bytes, part, facts);
  if (pluginName !== 'text') return;
  const [tensor] = partsOf(bytes, range, value.tensor);
  const [text] = tensor === undefined ? [] : partsOf(bytes, tensor, TENSOR_TEXT);
  if (text !== undefined)
    facts.texts[textOf(value.tag).replace(/\/text_summary$/, '')] = bytes.toString('utf8', ...text);
}

function takeHparams(bytes: Buffer, range: Range, facts: Writable): void {
  for (const start of partsOf(bytes, range, hparams.start))
    for (const entry of partsOf(bytes, start, hparams.map)) {
      const [key] = partsOf(bytes, entry, hparams.key);
      const [held] = partsOf(bytes, entry, hparams.value);
      const known = held === undefined ? undefined : scalarIn(bytes, held);
      if (key !== undefined && known !== undefined) facts.hparams[bytes.toString('utf8', ...key)] = known;
    }
}

function scalarIn(bytes: Buffer, [from, to]: Range): string | number | boolean | undefined {
  const fields = new Fields().walk(bytes, from, to);
  while (fields.next()) {
    if (fields.is(scalar.number, wire.fixed64)) return fields.double;
    if (fields.is(scalar.text, wire.bytes)) return fields.text;
    if (fields.is(scalar.truth, wire.varint)) return fields.integer !== 0;
  }
  return undefined;
}

/** The fields of this number that hold bytes, in a message. */
function partsOf(bytes: Buffer, [from, to]: Range, number: number): Range[] {
  const fields = new Fields().walk(bytes, from, to);
  const found: Range[] = [];
  while (fields.next()) if (fields.is(number, wire.bytes)) found.push([fields.start, fields.end]);
  return found;
}
