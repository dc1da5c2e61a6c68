/** Whether a full screen can be shown: both ends are a terminal that understands cursor addressing. */
export function hasScreen(): boolean {
  return process.stdout.isTTY && process.stdin.isTTY && process.env['TERM'] !== 'dumb';
}

/** Whether a person is there to be asked: both ends are a terminal, of whatever kind. */
export function hasPerson(): boolean {
  return process.stdout.isTTY && process.stdin.isTTY;
}

/** Whether to write in colour: a terminal that knows colours, and nobody objects (https://no-color.org). */
export function hasColour(): boolean {
  return process.stdout.isTTY && process.env['TERM'] !== 'dumb' && (process.env['NO_COLOR'] ?? '') === '';
}

/** Columns to lay tables out in; 140 where the output is a file or a pipe, which scrolls sideways. */
export function outputWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns : 140;
}

export function print(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${line}\n`).join(''));
}

/** Words about the output that are no part of it. */
export function remark(line: string): void {
  process.stderr.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  print([JSON.stringify(value, null, 2)]);
}
