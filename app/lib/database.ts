/** The public schema of supabase/migrations, in the form supabase-js expects of generated types. */
export type Database = {
  public: {
    Tables: {
      client_ids: {
        Row: { client_id: string; claimed_by: string | null; claimed_at: string | null; created_at: string };
        Insert: { client_id: string };
        Update: Record<never, never>;
        Relationships: [];
      };
      shipments: {
        Row: {
          id: string;
          user_id: string;
          request_id: string;
          name: string;
          stage: number;
          status: string;
          awb: string | null;
          created_at: string;
          /** The last day it is kept, such as 2033-11-21. */
          retain_until: string;
        };
        Insert: { user_id: string; request_id?: string; name: string; stage?: number; status?: string };
        Update: { awb?: string | null; retain_until?: string };
        Relationships: [];
      };
      documents: {
        Row: {
          id: string;
          shipment_id: string;
          user_id: string;
          name: string;
          uploaded: boolean;
          verified: boolean;
          storage_path: string | null;
        };
        Insert: { shipment_id: string; user_id: string; name: string };
        Update: { uploaded?: boolean; verified?: boolean; storage_path?: string | null };
        Relationships: [
          {
            foreignKeyName: "documents_shipment_id_fkey";
            columns: ["shipment_id"];
            isOneToOne: false;
            referencedRelation: "shipments";
            referencedColumns: ["id"];
          },
        ];
      };
      tracking_events: {
        Row: { id: string; shipment_id: string; status: string; location: string | null; created_at: string };
        Insert: { shipment_id: string; status: string; location?: string | null };
        Update: Record<never, never>;
        Relationships: [
          {
            foreignKeyName: "tracking_events_shipment_id_fkey";
            columns: ["shipment_id"];
            isOneToOne: false;
            referencedRelation: "shipments";
            referencedColumns: ["id"];
          },
        ];
      };
    };
    Views: Record<never, never>;
    Functions: {
      client_id_admits: { Args: { client_id: string; email: string }; Returns: boolean };
      portal_page: { Args: { page?: number; opened?: string }; Returns: PortalPage };
      take_attempt: {
        Args: { limits: { key: string; most: number; seconds: number }[] };
        Returns: { attempt: string } | { refused: string; wait: number };
      };
      release_attempt: { Args: { attempt: string }; Returns: undefined };
      find_account: { Args: { email: string }; Returns: string | null };
      past_retention: { Args: Record<never, never>; Returns: PastRetention };
      issue_client_ids: {
        Args: { how_many?: number };
        Returns: Database["public"]["Tables"]["client_ids"]["Row"][];
      };
      advance_shipment: {
        Args: { shipment_id: string; event_location?: string | null };
        Returns: Database["public"]["Tables"]["shipments"]["Row"][];
      };
    };
    Enums: Record<never, never>;
    CompositeTypes: Record<never, never>;
  };
};

/** What public.portal_page answers: 21 shipments at most, so that one more page can be told of. Times are ISO 8601, UTC. */
export type PortalPage = {
  shipments: { id: string; name: string; status: string; stage: number }[];
  shipment: {
    id: string;
    name: string;
    status: string;
    stage: number;
    awb: string | null;
    documents: { id: string; name: string; uploaded: boolean; verified: boolean }[];
    tracking_events: { id: string; status: string; location: string | null; created_at: string }[];
  } | null;
};

/** What public.past_retention answers: paths in the bucket, days, and times in ISO 8601. */
export type PastRetention = {
  shipments: { id: string; name: string; retain_until: string; files: string[] }[];
  files: string[];
  accounts: { id: string; email: string; last_seen: string }[];
};
