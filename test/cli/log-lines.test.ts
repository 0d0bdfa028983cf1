import { expect, it } from '@jest/globals';
import { createSdkLogger } from '../../src/temporal/sdk-logger.js';

it('a line of the SDK names the flow as all other lines do, for its callbacks as well', () => {
  const lines: object[] = [];
  const sink = { debug() {}, info() {}, error() {}, warn: (detail: object) => void lines.push(detail) };
  const logger = createSdkLogger(sink);
  logger.warn('said', { workflowId: 'offramp/o-1', activityType: 'submitStep', input: 'canary' });
  logger.warn('said', { workflowId: 'callbacks/offramp/o-1' });
  expect(lines).toEqual([
    { workflowId: 'offramp/o-1', flowId: 'offramp/o-1', activityType: 'submitStep' },
    { workflowId: 'callbacks/offramp/o-1', flowId: 'offramp/o-1' },
  ]);
});
