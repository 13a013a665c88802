import { expect, test } from "vitest";
import { stages } from "./portal.server.ts";
import { nextAction } from "./shipment.ts";
import { type ShipmentEmail, shipmentUpdateEmail } from "./shipment-email.ts";

const sender = {
  name: "The company",
  email: "office@company.example",
  phone: "+254 700 000 001",
  origin: "http://site.example",
};
type ShipmentUpdate = ShipmentEmail["events"][number];
const update = (kind: ShipmentUpdate["kind"], detail: string, more: Partial<ShipmentUpdate> = {}): ShipmentUpdate => ({
  ...{ kind, detail, reason: null, note: null, previous_stage: null, opened: null },
  ...more,
});
const stage = (number: number, previous_stage = number - 1, text: string | null = null) =>
  update("stage", String(number), { previous_stage, note: text });
const rejected = (reason: string | null, name = "Packing List") => update("rejected", name, { reason });
const charge = update("charge", "duties");
const storage = update("storage", "2026-05-14");
const arrived = update("arrived", "mombasa 2026-05-10");
const verified = update("verified", "documents");
const paid = update("paid", "idf-fee");
const newShipment = (name: string, awb: string | null = null) => ({ id: "5a000000-0000", name, awb });
const opened = (...shipments: ReturnType<typeof newShipment>[]) =>
  update("opened", String(shipments.length), { opened: shipments });
const note = (text: string | null = "The truck leaves at 14:00.") => update("note", "note", { note: text });

const portArrival: ShipmentEmail["arrival"] = {
  storage_location: "mombasa",
  day: "2026-05-10",
  cargo: "container-20",
  free_storage_ends_on: "2026-05-14",
};
const containers = Array.from({ length: 20 }, () => "MSKU9070323").join(", ");
const ourAction = { waitingOn: "company", text: "We declare your cargo to customs within one working day." } as const;

function createUpdateEmail(events: ShipmentUpdate[], more: Partial<ShipmentEmail> = {}) {
  const shipment: ShipmentEmail = {
    arrival: portArrival,
    ...{ shipment_id: "5a000000-0000-4000-8000-000000000001", name: "Tea", full_name: "Grace", stage: 4 },
    ...{ status: "Customs Declaration", nextAction: ourAction, numbers: [["AWB/BL", "MSKU-9001"]], events },
    ...more,
  };
  return shipmentUpdateEmail(sender, shipment, "http://site.example/stop");
}

/** Returns the lines of the email before the footer, without the empty line between body and footer. */
function listBodyLines({ text }: { text: string }): string[] {
  const lines = text.split("\n");
  return lines.slice(0, lines.lastIndexOf(sender.name) - 1);
}

const allKinds: [string, ShipmentUpdate[]][] = [
  ["a move", [stage(4)]],
  ["a move with a note", [stage(4, 3, "It is raining.")]],
  ["a rejected document", [rejected("Blurred")]],
  ["free storage", [storage]],
  ["an arrival", [arrived]],
  ["verified documents", [verified]],
  ["a confirmed payment", [paid]],
  ["a note", [note()]],
  ["an opened shipment", [opened(newShipment("Tea"))]],
  ["two notes of several lines", [note("One\n\n\nTwo\r\nThree"), note("x\n".repeat(500))]],
  [
    "everything",
    [
      ...["Packing List", "Bill of Lading", "Commercial Invoice"].map((name) => rejected("Blurred\n\nTwice", name)),
      ...["duties", "idf-fee", "agent-fee"].map((item) => update("charge", item)),
      ...[storage, stage(3), stage(4), note("A\nB"), note("C\nD"), note("E\nF"), arrived, verified, paid],
    ],
  ],
];

test.each(allKinds)("A shipment update about %s has at most 12 lines before the footer.", (_kind, events) => {
  const numbers: ShipmentEmail["numbers"] = [
    ["AWB/BL", "MSKU-9001"],
    ["Containers", containers],
  ];
  const email = createUpdateEmail(events, { numbers });
  const lines = listBodyLines(email);
  expect(lines.length).toBeLessThanOrEqual(12);
  expect(lines.slice(0, 2)).toEqual(["Hello Grace,", ""]);
  expect(lines[2]).toContain("Tea");
  expect(email.text).toContain(`\nShipment number: 5a000000, AWB/BL: MSKU-9001\nContainers: ${containers}\n`);
  const isQuiet = events.some((event) => event === storage || event.note);
  const reassurance = isQuiet ? "" : " You do not need to do anything.";
  expect(lines).toContain(`We declare your cargo to customs within one working day.${reassurance}`);
  expect(lines.at(-1)).toBe("See the shipment: http://site.example/portal/5a000000-0000-4000-8000-000000000001");
  expect(email.text.split("\n").slice(lines.length)).toEqual([
    ...["", "The company", "+254 700 000 001"],
    "We never send bank details by email. Check that this email is from us: http://site.example/additional-info#identity-check",
    ...["Unsubscribe from shipment emails: http://site.example/stop", ""],
  ]);
});

test.each([null, ""])(
  'A shipment update to a client with the name %j starts with "Hello," without a name.',
  (full_name) => {
    expect(listBodyLines(createUpdateEmail([stage(4)], { full_name }))[0]).toBe("Hello,");
  },
);

test.each([
  [[stage(2), note(), stage(3), stage(4)], "moved to", "Customs Declaration (4 of 10)"],
  [[stage(1, 4)], "moved back to", "Client Onboarding (1 of 10)"],
  [[stage(6, 5), stage(3, 6)], "moved back to", "IDF Application (3 of 10)"],
  [[stage(3, 6), stage(4)], "moved back to", "Customs Declaration (4 of 10)"],
  [[stage(5), stage(4, 5)], "moved back to", "Customs Declaration (4 of 10)"],
])(
  "A shipment update about the stage changes %j has one line about them: the shipment %s %s.",
  (events, move, name) => {
    const email = createUpdateEmail(events);
    expect(email.subject).toBe(`Tea: ${move === "moved to" ? "" : "Moved back to "}${name}`);
    expect(listBodyLines(email).filter((line) => line.includes(" moved "))).toEqual([
      `The shipment “Tea” ${move} ${name}.`,
    ]);
  },
);

test("A shipment update about a withdrawal has the reason and no link to the shipment. A later update says that the shipment is restored.", () => {
  const withdrawn = createUpdateEmail([update("withdrawn", "withdrawn", { reason: "Created twice" })]);
  expect(withdrawn.subject).toBe("Tea: Shipment withdrawn");
  expect(listBodyLines(withdrawn).slice(2)).toEqual([
    ...["We withdrew the shipment “Tea”. Reason: Created twice.", "Shipment number: 5a000000, AWB/BL: MSKU-9001", ""],
    ...["If you still need this shipment, call us.", "See your shipments: http://site.example/portal"],
  ]);
  const restored = createUpdateEmail([update("restored", "restored")]);
  expect(restored.subject).toBe("Tea: Shipment restored");
  expect(listBodyLines(restored)[2]).toBe("We restored the shipment “Tea”. It is in your list again.");
});

test("A shipment update starts with the most urgent event, and only this line contains the shipment's name.", () => {
  const lines = listBodyLines(createUpdateEmail([note(), stage(4), charge, rejected("Blurred")]));
  expect(lines.slice(2, 5)).toEqual([
    "We need a new file for the Packing List of the shipment “Tea”. Reason: Blurred.",
    "A payment is due for the shipment: Duties & Taxes. You can see the amount in the portal.",
    "The shipment moved to Customs Declaration (4 of 10).",
  ]);
});

test.each([
  [
    arrived,
    "The cargo of the shipment “Tea” arrived at Mombasa port on 10 May 2026. Last day of free storage: 14 May 2026.",
  ],
  [
    storage,
    "Free storage at Mombasa port for the shipment “Tea” ends on 14 May 2026. After that day, you pay for each day of storage.",
  ],
  [verified, "We verified all documents of the shipment “Tea”."],
  [paid, "We confirmed a payment for the shipment “Tea”: IDF Fee."],
  [opened(newShipment("Tea")), "We opened the shipment “Tea” for you."],
])("A shipment update about $kind contains the news once, even if the same news was queued twice.", (event, line) => {
  const lines = listBodyLines(createUpdateEmail([event, { ...event }]));
  expect(lines.slice(2, 4)).toEqual([line, expect.stringMatching(/^Shipment number: /)]);
});

test("If no tariff covers an arrival, the email asks the client to ask us for the free days until the release of the cargo.", () => {
  const arrival = {
    ...portArrival,
    storage_location: "entebbe-airport",
    cargo: "air",
    free_storage_ends_on: null,
  } as const;
  const event = update("arrived", "entebbe-airport 2026-05-10");
  const news = "The cargo of the shipment “Tea” arrived at Entebbe airport on 10 May 2026.";
  const email = createUpdateEmail([event], { arrival });
  expect(email.subject).toBe("Tea: Arrived at Entebbe airport");
  expect(listBodyLines(email)).toEqual(expect.arrayContaining([`${news} Ask us for the free days.`, ourAction.text]));
  const released = listBodyLines(createUpdateEmail([event], { arrival, stage: 9 }));
  expect(released).toEqual(expect.arrayContaining([news, `${ourAction.text} You do not need to do anything.`]));
});

test("A shipment update about several opened shipments lists them, and links to the list of shipments.", () => {
  const several = opened(newShipment("Tea", "MSKU-9001"), newShipment("Rice"));
  const list = [
    "We opened 2 shipments for you:",
    "- “Tea”, shipment number: 5a000000, AWB/BL: MSKU-9001",
    "- “Rice”, shipment number: 5a000000",
  ];
  const email = createUpdateEmail([several]);
  expect(email.subject).toBe("Tea and 1 more: Shipments opened");
  const nextStep = ["", "Upload the documents of each shipment.", "See your shipments: http://site.example/portal"];
  expect(listBodyLines(email).slice(2)).toEqual([...list, ...nextStep]);
  const moved = createUpdateEmail([several, stage(2)]);
  expect(moved.subject).toBe("Tea: Document Verification (2 of 10)");
  expect(listBodyLines(moved).slice(2, 6)).toEqual([
    "The shipment “Tea” moved to Document Verification (2 of 10).",
    ...list,
  ]);
});

test("If a note is the most urgent news, the first lines name the note and then the other news.", () => {
  const lines = listBodyLines(createUpdateEmail([verified, note("One"), arrived, note("Two")]));
  expect(lines.slice(2, 5)).toEqual([
    "We added a note to the shipment “Tea”.",
    "The cargo of the shipment arrived at Mombasa port on 10 May 2026. Last day of free storage: 14 May 2026.",
    "We verified all documents of the shipment.",
  ]);
});

test("A shipment update with too many events for its lines says how many more updates the portal shows.", () => {
  const events = [stage(4), charge, storage, rejected("Blurred"), rejected("Torn", "Bill of Lading")];
  const lines = listBodyLines(createUpdateEmail(events));
  expect(lines[4]).toBe("You can see 3 more updates in the portal.");
});

test("The subject of a shipment update is the most urgent event, in any order of the events.", () => {
  const subjects: [ShipmentUpdate, string][] = [
    [rejected("Blurred"), "Tea: New file needed: Packing List"],
    [charge, "Tea: Payment due: Duties & Taxes"],
    [storage, "Tea: Free storage ends on 14 May 2026"],
    [stage(4), "Tea: Customs Declaration (4 of 10)"],
    [note(), "Tea: Note from us"],
    [arrived, "Tea: Arrived at Mombasa port"],
    [verified, "Tea: All documents verified"],
    [paid, "Tea: Payment confirmed: IDF Fee"],
    [opened(newShipment("Tea")), "Tea: Shipment opened"],
  ];
  for (const [index, [, subject]] of subjects.entries()) {
    const events = subjects.slice(index).map(([event]) => event);
    const rotations = events.map((_, first) => [...events.slice(first), ...events.slice(0, first)]);
    for (const order of [...rotations, events.toReversed()])
      expect(createUpdateEmail(order).subject, order.map(({ kind }) => kind).join()).toBe(subject);
  }
  expect(createUpdateEmail([]).subject).toBe("Tea: Customs Declaration");
});

test.each([
  ["Page 2 is unreadable", "Page 2 is unreadable."],
  ["It is blurred. Scan it again! ", "It is blurred. Scan it again!"],
  ["Torn...", "Torn..."],
  ["Line 1\nLine 2", "Line 1 Line 2."],
])("The rejection reason %j is one line with a punctuation mark at its end in a shipment update.", (reason, words) => {
  const { text } = createUpdateEmail([rejected(reason)]);
  expect(text).toContain(`\nWe need a new file for the Packing List of the shipment “Tea”. Reason: ${words}\n`);
});

test("A shipment update without the rejection reason refers to the portal.", () => {
  const { text } = createUpdateEmail([rejected(null)]);
  expect(text).toContain("Packing List of the shipment “Tea”. You can see the reason in the portal.");
});

test.each([
  [["The truck leaves at 14:00."], ["Our note: “The truck leaves at 14:00.”"]],
  [
    ["First", null, "Second"],
    ["Our note: “First”", "Our note: “Second”"],
  ],
  [["x".repeat(501)], [`Our note: “${"x".repeat(499)}…”`]],
  [
    ["x".repeat(750), "Second"],
    [`Our note: “${"x".repeat(499)}…”`, "Our note: “Second”"],
  ],
  [["🚢".repeat(600)], [`Our note: “${"🚢".repeat(499)}…”`]],
  [["Hello\r\nBcc: spy@evil.example\r\n\r\n<b>x</b>"], ["Our note: “Hello Bcc: spy@evil.example <b>x</b>”"]],
  [["See https://evil.example/pay?x=1 or WWW.evil.example, now"], ["Our note: “See [link] or [link] now”"]],
  [["Wait\u2028The company\u202e\u0000\u2066+254 999"], ["Our note: “Wait The company+254 999”"]],
])("Each of the notes %j is one line of at most 500 characters in a shipment update.", (notes, lines) => {
  const email = createUpdateEmail(notes.map((text) => note(text)));
  expect(listBodyLines(email).filter((text) => text.startsWith("Our note"))).toEqual(lines);
});

test.each([
  [2, ["Our note: “Note 1”", "Our note: “Note 2”"]],
  [3, ["Our note: “Note 3”", "You can see 2 earlier notes in the portal."]],
  [9, ["Our note: “Note 9”", "You can see 8 earlier notes in the portal."]],
])(
  "If an email with three lines of news has %i notes, the email says how many notes it does not contain.",
  (count, lines) => {
    const notes = Array.from({ length: count }, (_, index) => note(`Note ${index + 1}`));
    const email = createUpdateEmail([stage(4), verified, paid, ...notes], {
      numbers: [
        ["AWB/BL", "MSKU-9001"],
        ["Containers", containers],
      ],
    });
    expect(listBodyLines(email)).toHaveLength(12);
    expect(listBodyLines(email).filter((text) => /\bnotes?\b/i.test(text))).toEqual(lines);
  },
);

test("A note with the text of our email footer remains a quotation in one line of the email.", () => {
  const footer = createUpdateEmail([note()]).text.split("\n").slice(-5).join("\n");
  const { text } = createUpdateEmail([note(`Pay now.\n\n${footer.replaceAll("site.example", "evil.example")}`)]);
  expect(text.split("\n").filter((line) => /Pay now|evil|The company .*700/.test(line))).toEqual([
    expect.stringMatching(
      /^Our note: “Pay now\. The company \+254 .* this email is from us: \[link\] Unsubscribe .*”$/,
    ),
  ]);
});

const twoSteps = "Upload a new file for the Packing List and Bill of Lading. Upload the Insurance Certificate.";

test.each(stages.map((stageTexts, index) => [index + 1, stageTexts] as const))(
  "At stage %i, the email shows the whole text of the next action, whoever acts next.",
  (number, stageTexts) => {
    const unfinished = ["Packing List", "Bill of Lading", "Insurance Certificate"].map((name, index) => {
      return { name, uploaded: false, rejected_at: index < 2 ? "2026-05-12T09:00:00Z" : null };
    });
    for (const documents of [[], unfinished]) {
      const action = nextAction({ stage: number, documents, charges: [] }, stageTexts);
      const lines = listBodyLines(createUpdateEmail([stage(4)], { nextAction: action }));
      expect(lines).toContain(
        action.waitingOn === "client" ? twoSteps : `${action.text} You do not need to do anything.`,
      );
    }
  },
);

test("The email about a closed shipment with an amount due says where the client can see the amount.", () => {
  const nextAction = { waitingOn: "nobody", text: "A payment is still due.", isDue: true } as const;
  const lines = listBodyLines(createUpdateEmail([stage(10)], { nextAction }));
  expect(lines).toContain("A payment is still due. You can see the amount on the shipment's page in the portal.");
});
