import type { Integrator } from '../account/integrator.js';
import { Refusal } from '../refusal.js';
import type { Handler } from './handler.js';

const exists = () => new Refusal(409, 'INTEGRATOR_EXISTS', 'An integrator with this email exists already');

export function createCreateIntegrator(deps: { integrator: Integrator }): Handler<'createIntegrator'> {
  const { integrator } = deps;
  return ({ body }) => {
    if (integrator.email() === body.email) return exists();
    integrator.create(body);
    return { message: 'Integrator created', data: integrator.shown() };
  };
}
