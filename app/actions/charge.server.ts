import { z } from "zod";
import { readDecimal } from "../lib/forms/decimal.ts";
import { oneLine } from "../lib/forms/text-fields.ts";
import { CHARGE_CURRENCIES } from "../models/desk-labels.ts";
import { maxLength } from "../models/limits.ts";
import { getPaymentName, PAYMENTS } from "../models/shipment.ts";
import { runStaffAction } from "../models/staff.server.ts";
import { dayField, defineStaffAction, reasonField } from "./staff-action.server.ts";

const item = z.enum(PAYMENTS.map(({ id }) => id));
const itemHelp = "the payment item that the charge is for";
const labels = { item: Object.fromEntries(PAYMENTS.map(({ id, name }) => [id, name])) };
const getAnchor = () => "#payments";

export const save = defineStaffAction({
  name: "charge save",
  label: "Charge saved",
  target: "shipment",
  schema: z.object({
    item,
    amount: z
      .string("Enter the amount.")
      .transform((typed, context) => {
        const amount = readDecimal(typed, 2);
        if (typeof amount === "number") return amount;
        const message = amount
          ? `This number has two possible meanings. Enter ${amount}.`
          : "Enter an amount such as 12,500 or 12500.50.";
        context.addIssue(message);
        return z.NEVER;
      })
      .refine((amount) => amount > 0, "Enter an amount above 0.")
      .refine((amount) => amount < 1e12, "Enter an amount below 1,000,000,000,000."),
    currency: z.enum(CHARGE_CURRENCIES, "Choose the currency."),
    due: dayField.optional(),
    note: oneLine("")
      .max(...maxLength("chargeNote"))
      .optional(),
  }),
  run: ({ supabase, options }, shipment_id, { due: due_on, ...charge }) =>
    runStaffAction(supabase, "set_charge", { shipment_id, ...charge, due_on, ...options }),
  toast: (_, { item }) => `${getPaymentName(item)}: charge saved`,
  getAnchor,
  command: {
    description: "save the amount, currency, due date and note of a charge",
    arguments: { item: itemHelp, amount: "the amount, such as 12500 or 12500.50" },
    options: {
      currency: "the currency",
      due: "the due date, such as 2026-05-31",
      note: "a note that the client sees",
    },
    defaults: { currency: "KES" },
    labels,
  },
});

export const markPaid = defineStaffAction({
  name: "charge paid",
  label: "Charge marked as paid",
  target: "shipment",
  schema: z.object({ item }),
  run: ({ supabase, options }, shipment_id, { item }) =>
    runStaffAction(supabase, "set_charge_paid", { shipment_id, item, paid: true, ...options }),
  toast: (_, { item }) => `${getPaymentName(item)} marked as paid`,
  getAnchor,
  command: { description: "mark a charge as paid", arguments: { item: itemHelp }, labels },
});

export const markUnpaid = defineStaffAction({
  name: "charge unpaid",
  label: "Charge marked as unpaid",
  target: "shipment",
  schema: z.object({ item, reason: reasonField }),
  run: ({ supabase, options }, shipment_id, fields) =>
    runStaffAction(supabase, "set_charge_paid", { shipment_id, ...fields, paid: false, ...options }),
  toast: (_, { item }) => `${getPaymentName(item)} marked as unpaid`,
  getAnchor,
  command: { description: "mark a charge as unpaid", arguments: { item: itemHelp }, labels },
});
