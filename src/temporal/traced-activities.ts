import { activityInfo } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor, ActivityInterceptorsFactory } from '@temporalio/worker';
import { flowIdOfCallbacks } from '../protocol/vocabulary.js';
import { traced } from '../tracing.js';

/** Each attempt of an activity is a span of its flow's trace. Workflows make none: they are replayed. */
export const tracedActivities: ActivityInterceptorsFactory = () => {
  const inbound: ActivityInboundCallsInterceptor = {
    execute(input, next) {
      const { activityType, attempt, workflowExecution } = activityInfo();
      const workflowId = workflowExecution?.workflowId;
      if (workflowId === undefined) return next(input);
      const flowId = flowIdOfCallbacks(workflowId) ?? workflowId;
      const attributes = { 'towline.attempt': attempt };
      return traced({ name: `activity ${activityType}`, flowId, attributes }, () => next(input));
    },
  };
  return { inbound };
};
