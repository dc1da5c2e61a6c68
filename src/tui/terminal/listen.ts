import { InputDecoder } from './input-decoder.js';
import type { InputEvent } from './input-event.js';

/** How long a lone escape may be the begin of something else, ms: more than a slow line needs, less than one notices. */
const patience = 50;

/**
 * Reads what a person does from a terminal in raw mode.
 *
 * Ink is not asked: it takes each read for one key, so that of a paste, of a mouse report or of a sequence that comes in two
 * reads it makes keys that nobody pressed.
 *
 * @returns What stops it.
 */
export function listen(stdin: NodeJS.ReadStream, tell: (event: InputEvent) => void): () => void {
  const decoder = new InputDecoder();
  let timer: NodeJS.Timeout | null = null;
  const hear = (text: string): void => {
    if (timer !== null) clearTimeout(timer);
    decoder.push(text).forEach(tell);
    timer = decoder.isWaiting ? setTimeout(() => decoder.settle().forEach(tell), patience) : null;
  };
  // A character may be cut in two by a read.
  stdin.setEncoding('utf8');
  stdin.on('data', hear);
  stdin.ref();
  stdin.resume();
  return () => {
    if (timer !== null) clearTimeout(timer);
    stdin.off('data', hear);
    stdin.pause();
    stdin.unref();
  };
}
