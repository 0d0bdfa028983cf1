import { coreFlow } from './core/flow.js';
import { invoicePaymentPlan } from './core/invoice-payment.js';

export const invoicePayment = coreFlow(invoicePaymentPlan);
