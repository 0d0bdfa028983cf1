import type { Integrator } from '../account/integrator.js';
import type { Handler } from './handler.js';

export function createUpdateWebhook(deps: { integrator: Integrator }): Handler<'updateWebhook'> {
  const { integrator } = deps;
  return ({ body }) => {
    integrator.updateWebhook(body);
    return { message: 'Webhook updated', data: integrator.shown() };
  };
}
