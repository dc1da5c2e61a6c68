import { type Instance, render, useInput } from 'ink';
import { useLayoutEffect, useSyncExternalStore } from 'react';
import { type Controller } from './controller.js';
import { keyNames } from './key-names.js';
import { type Painter } from './painter.js';

type Props = {
  readonly controller: Controller;
  readonly painter: Painter;
  /** A frame could not be made. Called outside of React, where the window can be taken down. */
  readonly onError: (error: unknown) => void;
};

/**
 * Mounts the window: Ink reads keys and owns the life of the component, the painter draws.
 *
 * Ink's own output goes nowhere; it would redraw whole screens where a few cells have changed.
 */
export function mountWindow(props: Props, stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream): Instance {
  const nowhere = Object.assign(Object.create(stdout) as NodeJS.WriteStream, { write: () => true });
  return render(<Window {...props} />, {
    stdin,
    stdout: nowhere,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: 120,
  });
}

/** Paints a frame after each change. In a layout effect, so that a key's frame is on its way before anything else is done. */
export function Window({ controller, painter, onError }: Props): null {
  const version = useSyncExternalStore(controller.subscribe, controller.version);
  useInput((input, key) => keyNames(input, key).forEach((name) => controller.press(name)));
  useLayoutEffect(() => {
    try {
      const { width, height } = controller.size;
      painter.paint(controller.frame(), width, height);
    } catch (error) {
      // Ink would draw it as a picture, on an output that goes nowhere, and stay.
      setImmediate(() => onError(error));
    }
  }, [controller, painter, onError, version]);
  return null;
}
