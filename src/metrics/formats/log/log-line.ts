/** Only the beginning of a longer line is parsed, characters. */
const LONGEST = 8192;
const escapes = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[()].|[A-Za-z78=>])/g;

/** The line without escape sequences and cursor movements. */
export function withoutEscapes(written: string): string {
  const line = written.length > LONGEST ? written.slice(0, LONGEST) : written;
  const text = line.includes('\u001b') ? line.replace(escapes, '') : line;
  // Keras moves the cursor back before it draws its bar again.
  return text.includes('\b') ? text.replaceAll('\b', '') : text;
}

/**
 * A line without the prefixes of loggers and launchers. `logger`: the name of the logger; `isSummary`: it was marked with a star.
 */
type Unprefixed = { text: string; logger: string; isSummary: boolean };

const level = '(?:TRACE|DEBUG|INFO|NOTICE|WARNING|WARN|ERROR|CRITICAL|FATAL|SUCCESS)';
const clock = String.raw`\d{1,2}:\d\d[:.]\d\d(?:[.,]\d+)?(?: [AP]M\b)?`;
const zone = String.raw`(?: ?(?:Z|UTC|[-+]\d\d:?\d\d))?`;
const month = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}';
const date = String.raw`(?:\d{1,2}[- ]${month}(?:[- ,]{1,2}\d{2,4})?|(?:[A-Z][a-z]{2},? )?${month}[- ]+\d{1,2}(?:,? \d{4})?|\d\d/\d\d/\d{4}|\d{2,4}[-/]\d\d[-/]\d\d|\d\d[-/]\d\d|\d\d?\.\d\d?\.(?:\d{2,4})?)`;
const gap = String.raw`[\s|:,-]*`;

/** Text in brackets that is not a prefix: a place in the training, or the evaluated set. */
const position =
  /^\s*(?:\d[\d.,/\s]*(?:\(.*\))?$|(?:epoch|step|iter|ep|episode|batch|update|eval |wd|lr|mem|loss)|(?:train|val|valid|test|eval|dev)$)/i;

type Element = { readonly begins: RegExp; readonly pattern: RegExp; readonly isStamp?: true };

/** Possible prefixes, removed as long as one matches. `begins`: with which sign. */
const elements: readonly Element[] = [
  { begins: /\[/, pattern: /\[\d+,\d+\]<std\w+>:\s*/y },
  { begins: /[IWEF]/, pattern: /[IWEF]\d{4,8} \d\d:\d\d:\d\d[^\]]{0,160}\]\s*/y, isStamp: true },
  {
    begins: /[\dA-Z]/,
    pattern: new RegExp(`(?:${date}[ T,]{1,2}|\\d{8}[- ])${clock}${zone}${gap}`, 'y'),
    isStamp: true,
  },
  { begins: /\d/, pattern: new RegExp(String.raw`${clock}(?=[\s\]])${gap}`, 'y'), isStamp: true },
  {
    begins: /[TDINWECFS]/,
    pattern: new RegExp(String.raw`${level}(?::[\w.]+:|\b(?=[\s:|\-]))${gap}`, 'y'),
    isStamp: true,
  },
  { begins: /\(/, pattern: /\((?:[\w.]+[ :]\d+|\w* ?pid=[^()]{0,80})\):?\s*/y },
  { begins: /\(/, pattern: /\((?:\d{1,4}\/\d{1,4}\) (?=Epoch)|\w{1,40}\) (?=\d{8}-))/y },
  { begins: /\d/, pattern: /\d{1,4}: (?=\S)/y },
  { begins: /[-=*#>|─━═•]/, pattern: /[-=*#>|─━═•][-=*#>|─━═• ]* /y },
];
/** The same by their first sign: nearly all lines have no prefix, and each pattern that is tried takes its time. */
const bySign = new Map<string, readonly Element[]>();

function elementsAt(sign: string): readonly Element[] {
  let fitting = bySign.get(sign);
  if (fitting === undefined) bySign.set(sign, (fitting = elements.filter(({ begins }) => begins.test(sign))));
  return fitting;
}

/** Name of a logger after a time or a level. */
const loggers: readonly RegExp[] = [
  new RegExp(String.raw`([A-Za-z_][\w.$<>/-]*)(?::[\w.$<>-]+)*(?: -(?=\s)|\s+\||\s(?=${level}\b))\s*`, 'y'),
  new RegExp(String.raw`\d:\d\d:\d\d - `, 'y'),
  new RegExp(String.raw`[\w.-]+:\d+\t[\w.]+:\d+\t(?=${level}\b)`, 'y'),
];
/** A number of a process behind a stamp in brackets: `[2026-01-01 12:00:00,000][12345]`. */
const pid = /(?<=\])\[\d{2,9}\]\s*/y;
const place = /[\w./-]{1,120}\.py: ?\d+:?\s+/y;
const label = /\[([^[\]]{1,120})\]:?[ \t]*/y;
const dated = new RegExp(`${date}|${clock}|\\b${level}\\b`, 'i');
const mayBegin = /[\d[(\-=*#>|A-Z─━═•]/;
/** Limit on the number of prefixes. */
const MOST = 16;

export function unprefixed(line: string): Unprefixed {
  const found: Found = { at: 0, logger: '', isStamped: false };
  if (mayBegin.test(line[0] ?? '')) for (let count = 0; count < MOST && takesElement(line, found); count++);
  const isSummary = line.slice(0, found.at).trimEnd().endsWith('*');
  return { text: line.slice(found.at), logger: found.logger, isSummary };
}

type Found = { at: number; logger: string; isStamped: boolean };

function takesElement(line: string, found: Found): boolean {
  const fitting = elementsAt(line[found.at] ?? '');
  const element = fitting.find(({ pattern }) => matchAt(pattern, line, found.at) !== null);
  if (element !== undefined) {
    found.at = element.pattern.lastIndex;
    found.isStamped ||= element.isStamp === true;
    return true;
  }
  return takesLabel(line, found) || takesLogger(line, found);
}

function takesLabel(line: string, found: Found): boolean {
  if (found.isStamped && takesProcess(line, found)) return true;
  const inside = line[found.at] === '[' ? matchAt(label, line, found.at)?.[1] : undefined;
  if (inside === undefined || position.test(inside)) return false;
  found.at = label.lastIndex;
  found.isStamped ||= dated.test(inside);
  return true;
}

/** Takes the number of a process, or the file and line of the code that writes. */
function takesProcess(line: string, found: Found): boolean {
  const pattern = line[found.at] === '[' ? pid : line.includes('.py:', found.at) ? place : null;
  if (pattern === null || matchAt(pattern, line, found.at) === null) return false;
  found.at = pattern.lastIndex;
  return true;
}

function takesLogger(line: string, found: Found): boolean {
  if (!found.isStamped || found.logger !== '') return false;
  const pattern = loggers.find((each) => matchAt(each, line, found.at) !== null);
  if (pattern === undefined) return false;
  found.logger = matchAt(pattern, line, found.at)?.[1] ?? '';
  found.at = pattern.lastIndex;
  return true;
}

function matchAt(pattern: RegExp, line: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(line);
}

/** Lines in which a program or its launcher reports a failure: they hold no metrics. */
const ofFailure =
  /^\s*(?:[\w.-]+: )?(?:\[[^\]]*\] ?)*(?:\[?(?:ERROR|CRITICAL|FATAL)\b|E\d{4} \d\d:\d\d:\d\d)|^[\w-]+(?: \S+)?: (?:fatal |npm )?error: |^(?:srun|slurmstepd): |^npm (?:ERR!|error) |^Node\.js v\d|^\S*\/\S+:\d+(?::\d+)?$|^(?:Effective GPU memory|Memory pool) usage: |^g?make(?:\[\d+\])?: \*{3} |\b[A-Z][A-Z\d]*_[A-Z\d_]+=\d/;
/** Signs of a failure are looked for in so many characters of a line. */
const LONGEST_SIGN = 400;

/** Whether a line says that something has failed, so that its numbers measure nothing. */
export function isOfFailure(line: string): boolean {
  return ofFailure.test(line.length > LONGEST_SIGN ? line.slice(0, LONGEST_SIGN) : line);
}

/** A value at the end of a sentence, behind which another begins: `Step: 19000. Mean Reward: 0.250.` */
const ended = /[:=] ?[^:=]{0,60}[\d)\]s%]\. +[A-Z]/;
const between = /(?<=[\w)\]%])\. +(?=[A-Z])|\.$/;
/** `Step... (19 | Loss: 0.25)`. */
const ellipsis = /^([A-Za-z]{2,20})\.{2,3} ?\(/;

/** `Policy #0 lag: (`. */
const numbered = /\b([A-Z][a-z]+) #(\d+)(?= [a-z]+: ?\()/;

/** A line of several short sentences as one, whose parts are separated by bars; sentences without a value are left out. */
export function inOneSentence(text: string): string {
  if (!text.includes('. ') && !text.includes('..')) return text;
  if (ellipsis.test(text)) return text.replace(ellipsis, '$1 ');
  if (!ended.test(text)) return text;
  const parts = text
    .replace(numbered, '$1-$2')
    .split(between)
    .filter((part) => /[:=(]| \d/.test(part));
  return parts.length < 2 ? text : parts.join(' | ');
}
