import type { OpenAPIV3_1 } from 'openapi-types';
import type { z } from 'zod';
import { operations, type OperationName } from '../../contract/index.js';
import { openApiDocument } from '../../contract/openapi.js';
import type { Operation } from '../../contract/operation.js';
import { json } from './entry.js';

type Paths = Record<string, Record<string, OpenAPIV3_1.OperationObject>>;

/** Header of answers that belong to a flow. */
const LOCATION = {
  Location: { description: 'Path of the flow, `/flows/{kind}/{reference}`.', schema: { type: 'string' as const } },
};

/** The service's own interface as the gateway speaks it: with its tokens, its refusals, and 202 for what is under way. */
export function proxyPaths(): Paths {
  const described = openApiDocument({ serverUrl: '/', title: '' }).paths as Paths;
  const paths: Paths = {};
  for (const operation of Object.values(operations) as Operation[]) {
    const method = operation.method.toLowerCase();
    const own = described[operation.path]?.[method];
    // The settlement path is an endpoint of its own, described with the others.
    if (own === undefined || operation.effect === 'report') continue;
    (paths[operation.path] ??= {})[method] = throughTheGateway(operation, own);
  }
  return paths;
}

function throughTheGateway(operation: Operation, own: OpenAPIV3_1.OperationObject): OpenAPIV3_1.OperationObject {
  const isMoney = operation.effect === 'money';
  const status = String(operation.success ?? 200);
  const { [status]: success } = own.responses ?? {};
  const example = SERVICE_EXAMPLES[operation.name as OperationName];
  const [type] = Object.values((own.requestBody as OpenAPIV3_1.RequestBodyObject | undefined)?.content ?? {});
  return {
    ...own,
    description: descriptionOf(operation),
    security: [{ token: [] }],
    ...(type === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { ...type, ...(example === undefined ? {} : { example }) } },
          },
        }),
    responses: {
      [status]: isMoney ? { ...(success as OpenAPIV3_1.ResponseObject), headers: LOCATION } : (success ?? {}),
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
}

function descriptionOf({ effect }: Operation): string {
  switch (effect) {
    case 'money':
      return 'Starts the flow of its reference, or finds it. The same request again gets the same answer. Takes the token of the service, too.';
    case 'account':
      return 'Passed on once. Needs a gateway token of the role admin.';
    case 'quote':
      return 'Passed on, and remembered: a deposit with its rate id knows how old it is.';
    case 'read':
    case 'report':
      return 'Answered from the flow where that knows more, else passed on.';
    default:
      return effect satisfies never;
  }
}

type WithBody = { [Name in OperationName]: (typeof operations)[Name] extends { body: z.ZodType } ? Name : never };
type Bodies = {
  readonly [Name in WithBody[OperationName]]?: (typeof operations)[Name]['body'] extends infer Body extends z.ZodType
    ? z.input<Body>
    : never;
};

const mobileMoney = { accountName: 'Amina Example', phoneNumber: '+254712345678', providerNetwork: 'MPESA' } as const;

/** A request of each operation, as an integration sends it today; the sandbox takes them all. */
const examples = {
  verifyHuman: { verificationToken: 'token-of-the-widget' },
  createIntegrator: {
    organization: 'Example Ltd',
    product_name: 'Example Pay',
    first_name: 'Thandi',
    last_name: 'Example',
    email: 'thandi@shop.example',
    phone: '+27821234567',
    country_code: 'ZA',
    webhook_url: 'https://towline.shop.example/webhooks/capability',
  },
  updateWebhook: { webhook_url: 'https://towline.shop.example/webhooks/capability', webhook_events: [] },
  createOnramp: {
    referenceId: 'onramp-1002',
    fiatAmount: 1000.5,
    currency: 'KES',
    chain: 'CELO',
    token: 'USDC',
    receiverAddress: '0x1111111111111111111111111111111111111111',
    callbackUrl: 'https://shop.example/callbacks/onramp-1002',
    mobileMoney,
  },
  sendCrypto: {
    referenceId: 'send-1002',
    receiverAddress: '0x1111111111111111111111111111111111111111',
    chain: 'CELO',
    token: 'USDC',
    cryptoAmount: 12.5,
  },
  createOfframp: {
    referenceId: 'offramp-1002',
    cryptoAmount: 12.5,
    currency: 'KES',
    chain: 'CELO',
    token: 'USDC',
    mobileMoneyReceiver: {
      accountName: 'Amina Example',
      phoneNumber: '+254712345678',
      networkProvider: 'MPESA',
    },
  },
  createBankCheckout: {
    referenceId: 'checkout-1002',
    fullName: 'Thandi Example',
    phoneNumber: '+27821234567',
    paymentMethod: 'PAYBYBANK',
    currency: 'ZAR',
    amount: 250.5,
    customerRedirectUrl: 'https://shop.example/paid',
  },
  createCardDeposit: {
    referenceId: 'card-1002',
    fullName: 'Thandi Example',
    phoneNumber: '+27821234567',
    currency: 'ZAR',
    amount: 250.5,
    card: { number: '4111111111111111', expiryMonth: '12', expiryYear: '2030', cvv: '123' },
  },
  createBankWithdrawal: {
    referenceId: 'withdrawal-1002',
    bankDetails: { name: 'Thandi Example', bankCode: '0250', accountNumber: '62012345678', country: 'ZA' },
    currency: 'ZAR',
    amount: 250.5,
  },
  createInvoice: {
    referenceId: 'invoice-1002',
    currency: 'KES',
    amount: 1000.5,
    bank: { accountName: 'Thandi Example', accountNumber: '0112345678', bankCode: '0250', country: 'ZAF' },
  },
  payInvoice: { referenceId: 'invoice-1002', currency: 'KES', amount: 1000.5, mobileMoney },
  quoteBridge: { source_currency: 'KES', source_amount: 1000.5, crypto_chain: 'CELO', crypto_token: 'USDC' },
  createBridgeDeposit: {
    customer_key: 'customer-1',
    provider_reference_id: 'order-1004',
    amount: 1000.5,
    callback_url: 'https://shop.example/callbacks/order-1004',
    source_currency: 'KES',
    wallet_id: 'wallet-1',
    transaction_type: 'cross_border',
    chain: 'CELO',
    token: 'USDC',
    crypto_payment: { address: '0x1111111111111111111111111111111111111111', crypto_amount: 7.5 },
    settlement: {
      amount: 100,
      currency: 'ZAR',
      country: 'ZA',
      recipient: { phone_number: '+27821234567', account_holder_name: 'Thandi Example' },
    },
  },
} satisfies Bodies;

export const SERVICE_EXAMPLES: Readonly<Partial<Record<OperationName, unknown>>> = examples;
