import { type DrawModel, ModelCanvas, useWheel } from '../../model/use-model.js';
import type { ScreenProps } from '../screen-props.js';
import { gpuScreen } from './gpu-screen-lines.js';

export function GpuScreen({ size }: ScreenProps) {
  const wheel = useWheel();
  return <ModelCanvas {...size} draw={draw} onPoint={wheel} />;
}

const draw: DrawModel = (model, { width, height }) => gpuScreen(model, width, height);
