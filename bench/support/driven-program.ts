import pty, { type IPty } from '@lydell/node-pty';

/** A program in a pseudo-terminal of its own, whose output is looked at as it comes. */
export class DrivenProgram {
  readonly #child: IPty;
  #recent = '';
  #waiting: { token: string; seen: () => void } | null = null;
  bytes = 0;

  constructor(words: readonly string[], size: { cols: number; rows: number }) {
    // Ink draws nothing while CI is set.
    const env = { ...process.env, CI: 'false', CONTINUOUS_INTEGRATION: 'false' };
    this.#child = pty.spawn(process.execPath, [...words], { ...size, name: 'xterm-256color', env });
    this.#child.onData((text) => this.#hear(text));
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves when the text has been written, or had been a short while ago. */
  seen(token: string): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting = { token, seen: resolve };
      if (this.#recent.includes(token)) resolve();
    });
  }

  write(keys: string): void {
    this.#child.write(keys);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #hear(text: string): void {
    this.bytes += Buffer.byteLength(text);
    this.#recent = (this.#recent + text).slice(-65_536);
    if (this.#waiting !== null && this.#recent.includes(this.#waiting.token)) this.#waiting.seen();
  }
}
