import { type DrawModel, ModelCanvas, useWheel } from '../../model/use-model.js';
import type { ScreenProps } from '../screen-props.js';
import { compareScreen } from './compare-screen-lines.js';

export function CompareScreen({ size }: ScreenProps) {
  const wheel = useWheel();
  return <ModelCanvas {...size} draw={draw} onPoint={wheel} />;
}

const draw: DrawModel = (model, { width, height }) => compareScreen(model, width, height);
