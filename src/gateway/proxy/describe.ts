import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { describeOperation } from '../../contract/openapi.js';
import type { Operation } from '../../contract/operation.js';
import type { Reference } from '../http/openapi.js';
import { json, toSchema } from '../reference/describe-route.js';

/** Header of answers that belong to a flow. */
const LOCATION = {
  Location: { description: 'Path of the flow, `/flows/{kind}/{reference}`.', schema: { type: 'string' as const } },
};

const UnderWay = z
  .object({ success: z.literal(true), message: z.string(), data: z.looseObject({}) })
  .meta({ description: "The service's answer is not known yet; `Location` is the address of the flow." });

/** An operation of the service as the gateway offers it: its tokens, its refusals, and 202 while in progress. */
export function describeThroughGateway(operation: Operation): Reference {
  const own = describeOperation(operation);
  const isMoney = operation.effect === 'money';
  const status = String(operation.success ?? 200);
  const success = (own.responses ?? {})[status] as OpenAPIV3_1.ResponseObject;
  const described = {
    ...own,
    description: DESCRIPTIONS[operation.effect],
    security: [{ token: [] }],
    responses: {
      [status]: isMoney ? { ...success, headers: LOCATION } : success,
      ...(isMoney
        ? {
            '202': {
              description: "Under way; the service's answer is not known yet.",
              headers: LOCATION,
              ...json('UnderWay'),
            },
            '409': { description: 'The reference has another request.', ...json('ServiceRefused') },
          }
        : {}),
      '4XX': { $ref: '#/components/responses/ServiceRefused' },
      '5XX': { $ref: '#/components/responses/ServiceUnavailable' },
    },
  };
  return { operation: described, schemas: isMoney ? { UnderWay: toSchema(UnderWay, 'output') } : {} };
}

const PASSED_ON = 'Answered from the flow if that knows more, else passed on.';

const DESCRIPTIONS: Readonly<Record<Operation['effect'], string>> = {
  money:
    'Starts the flow of its reference, or finds it. The same request again gets the same answer. Takes the token of the service, too.',
  account: 'Passed on once. Needs a gateway token of the role admin.',
  quote: 'Passed on, and remembered: a deposit with its rate id knows how old it is.',
  read: PASSED_ON,
  report: PASSED_ON,
};
