import { monthName } from "~/lib/dates";
import { type CostEstimate, formatAmount, getDutyRate, IMPORT_KINDS, type Import } from "~/models/cost";
import type { CitedRates } from "~/models/cost.server";

export function EstimateBreakdown(props: {
  rates: CitedRates;
  what: string | undefined;
  cargo: Import | null;
  lines: CostEstimate | null;
}) {
  const { rates, what, cargo, lines } = props;
  return (
    <div className="mt-8 rounded-label border border-line bg-raised px-4 py-3 sm:px-6">
      <table className="w-full text-sm tabular-nums">
        <caption className="pb-2 text-left">
          <span className="block text-lg font-semibold">Estimate in KES </span>
          {cargo && (
            <span className="block">
              {IMPORT_KINDS[cargo.what]}
              {cargo.registered && `, first registered ${monthName(cargo.registered)}`}{" "}
            </span>
          )}
          <span className="text-quiet">
            Amounts are rounded to the shilling. The estimate excludes port, shipping line, transport and agency
            charges.
          </span>
        </caption>
        <thead className="sr-only">
          <tr>
            <th scope="col">Item</th>
            <th scope="col">Rate, date and source</th>
            <th scope="col">KES</th>
          </tr>
        </thead>
        <tbody>
          {listEstimateLines(rates, what, cargo).map(([name, key, calculation, citation]) => (
            <EstimateLine key={key} name={name} amount={lines?.[key]} calculation={calculation} citation={citation} />
          ))}
        </tbody>
        <tbody aria-live="polite" aria-atomic className="border-t-2 border-dashed border-edge text-base font-semibold">
          <EstimateLine name="Total taxes" amount={lines?.taxes} />
          <EstimateLine name="Goods, freight, insurance and taxes" amount={lines?.total} />
        </tbody>
      </table>
      <p className="border-t border-line pt-3 text-sm text-quiet">
        {lines
          ? "This is an estimate, not a quotation. To share the estimate, click Calculate, then copy the address of this page."
          : "Fill in the form to see the amounts. All amounts are estimates."}
      </p>
    </div>
  );
}

function listEstimateLines(
  rates: CitedRates,
  what: string | undefined,
  cargo: Import | null,
): [name: string, key: keyof CostEstimate, calculation: string, citation: string][] {
  const { excise_duty, vat, import_declaration_fee: fee, railway_development_levy: levy } = rates;
  const duty = getDutyRate(what, rates);
  const excise = cargo ? cargo.excise : excise_duty.percents.join(", ");
  return [
    ["CIF", "cif", cargo ? formatCif(cargo) : "Price, freight and insurance in KES", "You enter these amounts."],
    ["Import duty", "duty", `${cargo?.duty ?? duty.percent}% of CIF`, duty.citation],
    ["Excise duty", "excise", `${excise}% of (CIF + import duty)`, excise_duty.citation],
    ["VAT", "vat", `${vat.percent}% of (CIF + import duty + excise duty)`, vat.citation],
    ["Import declaration fee", "fee", `${fee.percent}% of CIF`, fee.citation],
    ["Railway development levy", "levy", `${levy.percent}% of CIF`, levy.citation],
  ];
}

function formatCif({ currency, value, freight, insurance, rate }: Import): string {
  const sum = `${currency} ${formatAmount(value)} + ${formatAmount(freight)} + ${formatAmount(insurance)}`;
  return currency === "KES" ? sum : `${sum}, at KES ${rate} for ${currency} 1`;
}

function EstimateLine(props: { name: string; amount: number | undefined; calculation?: string; citation?: string }) {
  const { name, amount, calculation, citation } = props;
  return (
    <tr className="flex flex-wrap justify-between gap-x-4 border-t border-line py-2 align-top md:table-row">
      <th scope="row" className="text-left font-semibold md:w-48 md:py-2 md:pr-4">
        {name}
      </th>
      <td className="order-last w-full md:w-auto md:py-2 md:pr-4">
        {calculation} {citation && <span className="block text-xs text-quiet">{citation}</span>}
      </td>
      <td className="text-right whitespace-nowrap md:py-2">{amount === undefined ? "–" : formatAmount(amount)}</td>
    </tr>
  );
}
