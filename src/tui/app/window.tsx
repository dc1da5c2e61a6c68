import { type Instance, render } from 'ink';
import { useEffect, useLayoutEffect, useSyncExternalStore } from 'react';
import type { Controller } from './controller.js';
import { InputDecoder } from '../terminal/input-decoder.js';
import type { InputEvent } from '../terminal/input-event.js';
import { paintFrame } from './paint-frame.js';
import type { Painter } from '../terminal/painter.js';

type Props = {
  readonly controller: Controller;
  readonly painter: Painter;
  /** A frame could not be made. Called outside of React, where the window can be taken down. */
  readonly onError: (error: unknown) => void;
};

/**
 * Mounts the window: Ink owns the life of the component, the painter draws.
 *
 * Ink's own output goes nowhere; it would redraw whole screens where a few cells have changed. Nor does it read keys: it
 * takes each read for one key, so that of a paste, of a mouse report or of a sequence that comes in two reads it makes
 * keys that nobody pressed.
 */
export function mountWindow(props: Props, stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream): Instance {
  const nowhere = Object.assign(Object.create(stdout) as NodeJS.WriteStream, { write: () => true });
  return render(<Window {...props} stdin={stdin} />, {
    stdin,
    stdout: nowhere,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: 120,
  });
}

/** Paints a frame after each change. In a layout effect, so that a key's frame is on its way before anything else is done. */
export function Window({ controller, painter, onError, stdin }: Props & { readonly stdin: NodeJS.ReadStream }): null {
  const version = useSyncExternalStore(controller.subscribe, controller.version);
  useEffect(() => {
    stdin.setRawMode(true);
    return listen(stdin, (event) => hand(controller, event));
  }, [controller, stdin]);
  useLayoutEffect(() => {
    try {
      paintFrame(controller, painter);
    } catch (error) {
      // Ink would draw it as a picture, on an output that goes nowhere, and stay.
      setImmediate(() => onError(error));
    }
  }, [controller, painter, onError, version]);
  return null;
}

function hand(controller: Controller, event: InputEvent): void {
  if (event.kind === 'key') controller.press(event.name);
  else if (event.kind === 'paste') controller.paste(event.text);
  else controller.point(event);
}

/** How long a lone escape may be the begin of something else, ms: more than a slow line needs, less than one notices. */
const patience = 50;

/**
 * Reads what a person does from a terminal in raw mode.
 *
 * @returns What stops it.
 */
function listen(stdin: NodeJS.ReadStream, tell: (event: InputEvent) => void): () => void {
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
