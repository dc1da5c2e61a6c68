import { PassThrough } from 'node:stream';
import { Box, type DOMElement, type Instance, render } from 'ink';
import { Component, type ReactNode, useCallback, useLayoutEffect, useState, useSyncExternalStore } from 'react';
import { SurfaceContext } from './canvas.js';
import { rootOf } from './ink-tree.js';
import type { Surface } from './surface.js';

/** A mounted window. */
export type MountedWindow = Pick<Instance, 'unmount'> & {
  /** Commits at once what would otherwise be committed at the end of the turn. */
  readonly flush: () => void;
};

/** Mounts components on a surface: Ink reconciles and lays out, the surface draws. */
export function mountWindow(children: ReactNode, surface: Surface, onError: (error: unknown) => void): MountedWindow {
  const window = (
    <Boundary onError={onError}>
      <WindowRoot surface={surface}>{children}</WindowRoot>
    </Boundary>
  );
  const streams = { stdout: silentOutput(surface), stdin: silentInput() };
  const ink = render(window, { ...streams, exitOnCtrlC: false, patchConsole: false });
  ink.waitUntilExit().catch(onError);
  return { unmount: ink.unmount, flush: () => ink.rerender(window) };
}

/** The whole screen. Its first, empty commit takes over drawing from Ink; only then the contents are rendered. */
function WindowRoot({ surface, children }: { readonly surface: Surface; readonly children: ReactNode }) {
  const size = useSyncExternalStore(surface.onResize, surface.size);
  const [isAttached, setIsAttached] = useState(false);
  const attach = useCallback(
    (box: DOMElement | null): void => {
      if (box !== null) surface.attach(rootOf(box));
    },
    [surface],
  );
  useLayoutEffect(() => setIsAttached(true), []);
  return (
    <SurfaceContext value={surface}>
      <Box ref={attach} flexDirection="column" {...(isAttached ? size : {})}>
        {isAttached && children}
      </Box>
    </SurfaceContext>
  );
}

type BoundaryProps = { readonly onError: (error: unknown) => void; readonly children: ReactNode };

/**
 * Closes the window when a component throws. Ink's own boundary would draw the error, and in Ink 6 lose it if it happens at once.
 */
class Boundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidCatch(error: unknown): void {
    this.props.onError(error);
  }

  override render(): ReactNode {
    return this.state.hasFailed ? null : this.props.children;
  }
}

/** The terminal that Ink sees. Not writable, so that unmounting Ink does not write a last frame. */
function silentOutput(surface: Surface): NodeJS.WriteStream {
  const output = {
    get columns() {
      return surface.size().width;
    },
    get rows() {
      return surface.size().height;
    },
    ...{ isTTY: false, writable: false, write: () => true, on: () => output, off: () => output },
  };
  return output as unknown as NodeJS.WriteStream;
}

/**
 * The input that Ink sees, which never sends anything: Ink would take a paste, a click or a split sequence for keys that nobody
 * pressed.
 */
function silentInput(): NodeJS.ReadStream {
  return Object.assign(new PassThrough(), { isTTY: false }) as unknown as NodeJS.ReadStream;
}
