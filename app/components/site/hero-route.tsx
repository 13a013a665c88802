/** Stations of the route line with their places on a 720 by 200 drawing, from the port inland. */
const stations = [
  { name: "Mombasa", x: 96, y: 120, below: false },
  { name: "Nairobi", x: 180, y: 84, below: false },
  { name: "Malaba", x: 262, y: 112, below: true },
  { name: "Kampala", x: 346, y: 66, below: false },
  { name: "Kigali", x: 424, y: 122, below: true },
  { name: "Bujumbura", x: 512, y: 146, below: true },
  { name: "Juba", x: 604, y: 44, below: false },
  { name: "Goma", x: 680, y: 104, below: true },
];

/** The route line from the quay at dusk to the lakes: our one motif. */
export function HeroRoute() {
  const line = stations.map(({ x, y }) => `${x},${y}`).join(" ");
  return (
    <svg
      viewBox="0 0 720 210"
      role="img"
      aria-label="Our line: Mombasa, Nairobi, Malaba, Kampala, Kigali, Bujumbura, Juba, Goma"
      className="mt-10 w-full min-w-0"
    >
      <g className="stroke-line" strokeWidth="1" fill="none">
        <path d="M0 190h720" />
        <path d="M10 190v-44h22v44M14 146v-26h44M58 120v12M32 146l26-26" />
      </g>
      <g className="fill-raised stroke-line" strokeWidth="1">
        <path d="M60 178h26v12H60zM88 178h26v12H88zM60 165h26v12H60z" />
      </g>
      <polyline points={line} fill="none" className="stroke-action" strokeWidth="3" strokeLinejoin="round" />
      {stations.map(({ name, x, y, below }) => (
        <g key={name}>
          <circle cx={x} cy={y} r="6" className="fill-surface stroke-action" strokeWidth="3" />
          <text x={x} y={below ? y + 24 : y - 14} textAnchor="middle" fontSize="13" className="fill-ink">
            {name}
          </text>
        </g>
      ))}
    </svg>
  );
}
