import { type Terminal } from '@xterm/headless';

export type Exit = { readonly code: number; readonly signal: number };

/** See `terminal.js`. */
export type OpenTerminal = {
  readonly emulator: Terminal;
  readonly pid: number;
  readonly bytes: number;
  readonly output: string;
  readonly exit: Exit | null;
  write(keys: string): void;
  kill(signal: string): void;
  resize(columns: number, rows: number): void;
  hang(hangs?: boolean): void;
  lines(): string[];
  isAlternate(): boolean;
  onDrawn(listener: () => void): () => void;
  waitFor(condition: (rows: string[]) => boolean, ms?: number): Promise<string[]>;
  ended(): Promise<Exit>;
  close(): void;
};

export function openTerminal(options: {
  readonly command: string;
  readonly args?: readonly string[];
  readonly columns: number;
  readonly rows: number;
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}): OpenTerminal;
