import type { ReactNode } from "react";
import { type checkCarAge, formatAmount, type Import } from "~/models/cost";
import type { CostRates } from "~/models/cost.server";

type ImportWarningsProps = {
  rates: CostRates;
  what: string | undefined;
  cargo: Import | null;
  ruling: ReturnType<typeof checkCarAge> | null;
  penalty: number | undefined;
};

export function ImportWarnings({ rates, what, cargo, ruling, penalty }: ImportWarningsProps) {
  const { years, ...age } = rates.car_age;
  const certificate = rates.no_certificate;
  const isCar = !what || what === "car";
  const latestArrivalYear = Number(cargo?.registered?.slice(0, 4)) + years - 1;
  return (
    <>
      <h2 className="text-xl">First of all</h2>
      {ruling === "refused" && (
        <p className="mt-3 rounded-label border-2 border-failure px-4 py-3 font-semibold text-failure">
          This car is refused: {years} years or more have passed since its first registration. The estimate below does
          not change that.
        </p>
      )}
      {ruling === "doubtful" && (
        <p className="mt-3 rounded-label border-2 border-attention px-4 py-3 font-semibold">
          Ask before you pay: in its notices KEBS has counted whole calendar years, and by that count this car had to
          land by 31 December {latestArrivalYear}.
        </p>
      )}
      <dl className="mt-3 grid gap-3 text-sm">
        {isCar && (
          <Warning name="Refused" look="border-failure" citation={age}>
            A car {years} years old or more, counted from the month of its first registration, and every car with
            left-hand drive.
            {ruling === "taken" &&
              ` The age on arrival counts, and KEBS has counted whole calendar years in its notices: to be safe, see that this one lands by 31 December ${latestArrivalYear}.`}
          </Warning>
        )}
        <Warning name="Dear" look="border-attention" citation={certificate}>
          No certificate of conformity: a penalty of {certificate.percent}% of CIF
          {penalty !== undefined && `, here KES ${formatAmount(penalty)} on top`}.
        </Warning>
        {isCar && (
          <Warning name="Uncertain" look="border-attention">
            For a used car KRA works out the value from its own price list, less its age. The taxes can be higher than
            on your invoice.
          </Warning>
        )}
      </dl>
    </>
  );
}

function Warning(props: {
  name: string;
  look: string;
  citation?: { date: string; source: string };
  children: ReactNode;
}) {
  const { name, look, citation, children } = props;
  return (
    <div className={`border-l-4 pl-3 ${look}`}>
      <dt className="font-semibold">{name}</dt>
      <dd>
        {children}{" "}
        {citation && (
          <span className="block text-xs text-quiet">
            {citation.date}. {citation.source}.
          </span>
        )}
      </dd>
    </div>
  );
}
